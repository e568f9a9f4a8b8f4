/** The part of `process` that ends it. */
export interface EndingProcess {
  readonly pid: number;
  readonly platform: NodeJS.Platform;
  exit(code: number): void;
  kill(pid: number, signal: "SIGHUP"): unknown;
  removeAllListeners(event: "SIGHUP"): unknown;
}

/**
 * Ends a process. Without its terminal, Node cannot exit as usual: it aborts, because it cannot
 * reset the terminal. So the SIGHUP that told of it ends the process. Windows has no such signal.
 */
export function exitProcess(one: EndingProcess, code: number, isTerminalClosed: boolean): void {
  if (isTerminalClosed && one.platform !== "win32") {
    one.removeAllListeners("SIGHUP");
    one.kill(one.pid, "SIGHUP");
  } else {
    one.exit(code);
  }
}
