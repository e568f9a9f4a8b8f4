import { useEffect, useRef, useState } from "preact/hooks";

/** A page of a list, and where the next one begins; "" after the last. */
export interface Page<T> {
  readonly rows: readonly T[];
  readonly next: string;
}

interface Loaded<T> {
  readonly rows: readonly T[];
  /** Null once everything is there. */
  readonly next: string | null;
  readonly error: unknown;
}

const NOTHING = { rows: [], next: "", error: null } as const;

/**
 * Loads a list page after page: the first one at once, and again whenever `needs` change; further
 * ones as `more` asks for them. Answers to a list that is no longer wanted are dropped.
 */
export function usePages<T>(load: (from: string) => Promise<Page<T>>, needs: readonly unknown[]) {
  const [loaded, setLoaded] = useState<Loaded<T>>(NOTHING);
  const [round, setRound] = useState(0);
  const wanted = useRef(0);
  const isBusy = useRef(false);
  const get = async (from: string) => {
    const turn = from === "" ? ++wanted.current : wanted.current;
    isBusy.current = true;
    const change = (next: (known: Loaded<T>) => Loaded<T>) => {
      if (turn !== wanted.current) return;
      isBusy.current = false;
      setLoaded(next);
    };
    try {
      const page = await load(from);
      change(({ rows }) => ({
        rows: from === "" ? page.rows : [...rows, ...page.rows],
        next: page.next === "" ? null : page.next,
        error: null,
      }));
    } catch (error) {
      change((known) => ({ ...known, error }));
    }
  };
  const loadedFor = useRef<readonly unknown[]>(needs);
  // `needs` are what `load` depends on.
  useEffect(() => {
    const isSame = loadedFor.current.every((need, at) => need === needs[at]);
    loadedFor.current = needs;
    // Rows of another place must not be taken for this one's.
    if (!isSame) setLoaded(NOTHING);
    get("");
    return () => {
      wanted.current++;
    };
  }, [...needs, round]);
  const { rows, next, error } = loaded;
  return {
    rows,
    error,
    /** Whether all rows are there. */
    isWhole: next === null,
    more: () => {
      if (next !== null && next !== "" && !isBusy.current) get(next);
    },
    reload: () => setRound((one) => one + 1),
  };
}
