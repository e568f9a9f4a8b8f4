/** Calls back once, later, unless cancelled first. Tests call back by hand. */
export type Schedule = (callback: () => void, afterMs: number) => { cancel(): void };
