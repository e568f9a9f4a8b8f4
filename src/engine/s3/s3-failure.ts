/**
 * Why a request to the object store failed.
 * - unreachable: no connection, or it was lost, or no answer came in time.
 * - busy: the store asks to come back later.
 * - refused: the store says no, and would say it again.
 * - full: the store has no space for the object.
 * - garbage: the answer is not one that S3 gives.
 */
export type S3FailureKind = "unreachable" | "busy" | "refused" | "full" | "garbage";

/** A request to the object store that failed. */
export class S3Failure extends Error {
  readonly kind: S3FailureKind;
  /** The status of the answer; 0 without one. */
  readonly status: number;
  /** The store's own word for it (`NoSuchBucket`, `SlowDown`); empty without one. */
  readonly code: string;

  constructor(
    kind: S3FailureKind,
    message: string,
    { status = 0, code = "" } = {},
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = "S3Failure";
    this.kind = kind;
    this.status = status;
    this.code = code;
  }

  /** Whether the same request may succeed soon. */
  get isPassing(): boolean {
    return this.kind !== "refused" && this.kind !== "full";
  }
}
