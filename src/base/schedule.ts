/** Calls back once, later, unless cancelled first. Tests call back by hand, and await the result. */
export type Schedule = (
  callback: () => void | Promise<void>,
  afterMs: number,
) => { cancel(): void };
