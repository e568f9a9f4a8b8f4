/** The part of `process` that tells about signals. */
export interface SignalSource {
  on(signal: "SIGINT" | "SIGTERM", listener: () => void): unknown;
}

/**
 * The first signal stops the server in good order and exits with 0. A second one means that somebody
 * will not wait, and need not: whatever was acknowledged is safe.
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
}
