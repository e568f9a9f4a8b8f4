import { useEffect, useRef, useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import { Problem } from "./parts.tsx";
import type { Ticket } from "./storage.ts";

/** An upload or download that runs, or that failed. */
interface Transfer {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  readonly problem: unknown;
  readonly cancel: () => void;
}

/** Runs transfers, and knows how far they are. Those of a page that is left are cancelled. */
export function useTransfers() {
  const [running, setRunning] = useState<readonly Transfer[]>([]);
  const aborts = useRef(new Set<AbortController>());
  useEffect(
    () => () => {
      for (const abort of aborts.current) abort.abort();
    },
    [],
  );
  const change = (name: string, changes: Partial<Transfer>) =>
    setRunning((all) => all.map((one) => (one.name === name ? { ...one, ...changes } : one)));
  const remove = (name: string) =>
    setRunning((all) => all.filter((transfer) => transfer.name !== name));
  /** Resolves to whether it ended well; what went wrong is shown in the list. */
  const run = async (
    name: string,
    total: number,
    work: (ticket: Ticket) => Promise<unknown>,
  ): Promise<boolean> => {
    const abort = new AbortController();
    aborts.current.add(abort);
    const transfer = { name, done: 0, total, problem: null, cancel: () => abort.abort() };
    setRunning((all) => [...all.filter((one) => one.name !== name), transfer]);
    try {
      const onProgress = (done: number) => change(name, { done });
      await work({ onProgress, signal: abort.signal });
      remove(name);
      return true;
    } catch (problem) {
      if (abort.signal.aborted) remove(name);
      else change(name, { problem });
      return false;
    } finally {
      aborts.current.delete(abort);
    }
  };
  const list = (
    <>
      {running.map(({ name, done, total, problem, cancel }) => (
        <div key={name} class="transfer">
          <label>
            {name}: {bytesText(done)} of {bytesText(total)}
            <progress value={done} max={total || 1} />
          </label>
          <button
            type="button"
            class="small"
            onClick={problem === null ? cancel : () => remove(name)}
          >
            {problem === null ? "Cancel" : "Dismiss"}
            <span class="sr"> {name}</span>
          </button>
          <Problem error={problem} />
        </div>
      ))}
    </>
  );
  return { run, list };
}
