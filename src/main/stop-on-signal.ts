/** The part of `process` that emits signals and messages of the parent process. */
export interface SignalSource {
  on(
    event: "SIGINT" | "SIGTERM" | "SIGBREAK" | "message",
    listener: (message?: unknown) => void,
  ): unknown;
}

/** Sent over IPC by programs that start Azurite, mostly on Windows, which lacks signals. */
const SHUTDOWN_MESSAGE = "shutdown";

/** SIGBREAK is Ctrl+Break on Windows; elsewhere Node never emits it. */
const SIGNALS = ["SIGINT", "SIGTERM", "SIGBREAK"] as const;

/**
 * Stops the server on the first signal or shutdown message, and exits with 0. A second one exits at
 * once: everything acknowledged is durable. Returns a function that does what a signal does.
 */
export function stopOnSignal(
  source: SignalSource,
  stop: () => Promise<void>,
  exit: (code: number) => void,
): () => void {
  let isStopping = false;
  const onSignal = () => {
    if (isStopping) return exit(1);
    isStopping = true;
    stop().then(
      () => exit(0),
      () => exit(1),
    );
  };
  for (const signal of SIGNALS) source.on(signal, onSignal);
  source.on("message", (message) => {
    if (message === SHUTDOWN_MESSAGE) onSignal();
  });
  return onSignal;
}
