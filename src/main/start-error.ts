/** An error at the start that the user can fix. The message is one line and says how. */
export class StartError extends Error {
  /** The exit code of the process. */
  readonly exitCode: number = 1;
}

/** A database or object store does not answer: another attempt may succeed. */
export class OutOfReach extends StartError {}

/** A mistake in the command line, the environment or the configuration file. */
export class UsageError extends StartError {
  override readonly exitCode = 2;
}

/** The exit code of commands that found damage, beside 1 (cannot do it) and 2 (wrong usage). */
export const DAMAGED_EXIT_CODE = 3;

/** Stored data is not what was written. */
export class DamageFound extends StartError {
  override readonly exitCode = DAMAGED_EXIT_CODE;
}

/** The exit code after Ctrl-C, as shells have it. */
export const STOPPED_EXIT_CODE = 130;

/** Ended by Ctrl-C or SIGTERM, in order. */
export class Stopped extends StartError {
  override readonly exitCode = STOPPED_EXIT_CODE;
}
