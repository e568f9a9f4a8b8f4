/** Something the user can mend. The message is one line and says how. */
export class StartError extends Error {
  /** The exit code of the process. */
  readonly exitCode: number = 1;
}

/** The command line, the environment or the configuration file is wrong. */
export class UsageError extends StartError {
  override readonly exitCode = 2;
}
