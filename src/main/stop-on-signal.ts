/** The part of `process` that emits signals and messages of the parent process. */
export interface SignalSource {
  on(
    event: "SIGINT" | "SIGTERM" | "SIGHUP" | "message",
    listener: (message?: unknown) => void,
  ): unknown;
}

/** Sent over IPC by programs that start Azurite, mostly on Windows, which lacks signals. */
const SHUTDOWN_MESSAGE = "shutdown";

/**
 * Stops the server on the first signal or shutdown message, and exits with 0. A second one exits at
 * once: everything acknowledged is durable. A SIGHUP counts only if the terminal was closed.
 */
export function stopOnSignal(
  source: SignalSource,
  stop: () => Promise<void>,
  exit: (code: number) => void,
  isTerminalClosed: () => boolean,
): void {
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) return exit(1);
    isStopping = true;
    stop().then(
      () => exit(0),
      () => exit(1),
    );
  };
  source.on("SIGINT", onSignal);
  source.on("SIGTERM", onSignal);
  source.on("SIGHUP", () => {
    if (isTerminalClosed()) onSignal();
  });
  source.on("message", (message) => {
    if (message === SHUTDOWN_MESSAGE) onSignal();
  });
}
