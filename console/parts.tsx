import { type ComponentChildren, Fragment } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

/** A message of the server, or of the page. */
export function Problem({ error }: { error: unknown }) {
  if (error === null || error === undefined) return null;
  const { code, status, message } = error as { code?: string; status?: number; message: string };
  return (
    <p class="problem" role="alert">
      {code ? (
        <strong>
          {status} {code}:{" "}
        </strong>
      ) : null}
      {message}
    </p>
  );
}

export function Empty({ children }: { children: ComponentChildren }) {
  return <p class="empty">{children}</p>;
}

/** Names and what they are; null leaves one out. */
export function Facts({ facts }: { facts: readonly (readonly [string, ComponentChildren])[] }) {
  return (
    <dl>
      {facts.map(([name, value]) =>
        value === null || value === "" ? null : (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd class="wrap">{value}</dd>
          </Fragment>
        ),
      )}
    </dl>
  );
}

/** A button that copies a text, and says so. A text that takes work is made by the click. */
export function Copy(props: { text: string | (() => Promise<string>); label?: string }) {
  const { text, label = "Copy" } = props;
  const [isDone, setDone] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(typeof text === "string" ? text : await text());
    setDone(true);
    setTimeout(() => setDone(false), 1500);
  };
  return (
    <button type="button" class="small" onClick={copy}>
      {isDone ? "Copied" : label}
    </button>
  );
}

/** Asks before something is done that others will notice. */
export function Confirm(props: {
  title: string;
  children: ComponentChildren;
  action: string;
  onConfirm: () => Promise<void>;
  onClose: () => void;
}) {
  const { title, children, action, onConfirm, onClose } = props;
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const confirm = async () => {
    setBusy(true);
    try {
      await onConfirm();
      onClose();
    } catch (failure) {
      setError(failure);
      setBusy(false);
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      {children}
      <Problem error={error} />
      <div class="actions">
        <button type="button" onClick={onClose}>
          Cancel
        </button>
        <button type="button" class="danger" disabled={isBusy} onClick={confirm}>
          {action}
        </button>
      </div>
    </Dialog>
  );
}

export function Dialog(props: { title: string; children: ComponentChildren; onClose: () => void }) {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => ref.current?.showModal(), []);
  return (
    <dialog ref={ref} onClose={props.onClose} aria-label={props.title}>
      <header>
        <h2>{props.title}</h2>
        <button type="button" class="small" aria-label="Close" onClick={() => ref.current?.close()}>
          ✕
        </button>
      </header>
      {props.children}
    </dialog>
  );
}

/**
 * Loads something, again whenever `needs` change. `reload` loads it anew, and resolves when that has
 * ended.
 */
export function useLoaded<T>(load: () => Promise<T>, needs: readonly unknown[]) {
  const [value, setValue] = useState<T | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  const waiting = useRef<(() => void)[]>([]);
  // `needs` are what `load` depends on.
  useEffect(() => {
    let isOver = false;
    const ended = waiting.current.splice(0);
    load()
      .then(
        (loaded) => {
          if (isOver) return;
          setValue(loaded);
          setError(null);
        },
        (failure) => {
          if (!isOver) setError(failure);
        },
      )
      .then(() => {
        for (const end of ended) end();
      });
    return () => {
      isOver = true;
    };
  }, [...needs, round]);
  const reload = () =>
    new Promise<void>((resolve) => {
      waiting.current.push(resolve);
      setRound((one) => one + 1);
    });
  return { value, error, reload };
}

/** The time, every second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

const ROW_PX = 36;
/** Heights of the box that are loaded before they come into sight. */
const AHEAD = 4;

/** A table of which only the rows in sight exist, so that 100,000 of them scroll smoothly. */
export function Rows<T>(props: {
  label: string;
  columns: readonly string[];
  rows: readonly T[];
  keyOf: (row: T) => string;
  cells: (row: T) => readonly ComponentChildren[];
  onOpen?: (row: T) => void;
  /** By default all rows can be opened. */
  canOpen?: (row: T) => boolean;
  isOpen?: (row: T) => boolean;
  classOf?: (row: T) => string;
  /** Whether long texts are cut early, because there are many columns. */
  isNarrow?: boolean;
  /** Called when the end comes into sight. */
  onEnd?: () => void;
}) {
  const { label, columns, rows, keyOf, cells, onOpen, canOpen, isOpen, classOf, onEnd } = props;
  const boxClass = props.isNarrow ? "rows narrow" : "rows";
  const [from, setFrom] = useState(0);
  const [height, setHeight] = useState(600);
  const ref = useRef<HTMLDivElement>(null);
  const shown = Math.ceil(height / ROW_PX) + 10;
  const first = Math.max(0, Math.min(from - 5, rows.length - shown));
  const look = () => {
    const box = ref.current;
    if (box === null) return;
    setFrom(Math.floor(box.scrollTop / ROW_PX));
    setHeight(box.clientHeight);
    if (box.scrollTop + AHEAD * box.clientHeight >= box.scrollHeight) onEnd?.();
  };
  // looks again when there are more rows.
  useEffect(look, [rows.length]);
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls can be scrolled by keys.
    <section class={boxClass} ref={ref} onScroll={look} aria-label={label} tabIndex={0}>
      <table aria-rowcount={rows.length + 1}>
        <thead>
          <tr aria-rowindex={1}>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {first > 0 ? <Gap rows={first} columns={columns.length} /> : null}
          {rows.slice(first, first + shown).map((row, at) => (
            <tr
              key={keyOf(row)}
              aria-rowindex={first + at + 2}
              class={`${classOf?.(row) ?? ""} ${isOpen?.(row) ? "open" : ""}`}
            >
              {cells(row).map((cell, at) => (
                <td key={at}>
                  {at === 0 && onOpen !== undefined && canOpen?.(row) !== false ? (
                    <button type="button" class="link" onClick={() => onOpen(row)}>
                      {cell}
                    </button>
                  ) : (
                    cell
                  )}
                </td>
              ))}
            </tr>
          ))}
          {first + shown < rows.length ? (
            <Gap rows={rows.length - first - shown} columns={columns.length} />
          ) : null}
        </tbody>
      </table>
    </section>
  );
}

/** Stands for rows that are out of sight. */
function Gap({ rows, columns }: { rows: number; columns: number }) {
  return (
    <tr>
      <td colSpan={columns} style={{ height: `${rows * ROW_PX}px`, padding: 0, border: 0 }} />
    </tr>
  );
}
