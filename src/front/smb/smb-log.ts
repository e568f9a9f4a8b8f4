/** Receives what the server reports. */
export interface SmbLog {
  /** An error of the engine or of the program. */
  failure(what: string, error: unknown): void;
  /** Something that the operator should know, although nothing is broken. */
  warn(line: string): void;
}
