/** The part of `process` that tells about signals, and about messages of the parent process. */
export interface SignalSource {
  on(event: "SIGINT" | "SIGTERM" | "message", listener: (message?: unknown) => void): unknown;
}

/** Sent by parents that start Azurite with a channel, above all on Windows, which has no signals. */
const SHUTDOWN_MESSAGE = "shutdown";

/**
 * The first signal (or message to shut down) stops the server in good order and exits with 0. A second
 * one means that somebody will not wait, and need not: whatever was acknowledged is safe.
 */
export function stopOnSignal(
  source: SignalSource,
  stop: () => Promise<void>,
  exit: (code: number) => void,
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
  source.on("message", (message) => {
    if (message === SHUTDOWN_MESSAGE) onSignal();
  });
}
