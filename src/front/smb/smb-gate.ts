/** What a request of a logged-on client is about. */
export interface GatedRequest {
  /** `Create` */
  readonly operation: string;
  readonly account: string;
  /** "" if the request is about no share. */
  readonly share: string;
  /** Below the share, as it was opened; "" if there is none. */
  readonly path: string;
  readonly requestId: string;
}

/** An answer that holds memory until it is sent or released. */
export interface Releasable {
  readonly borrowed: { release(): void } | null;
  readonly share: { release(): void } | null;
}

/** A lab around the handlers; most servers have none. */
export interface SmbGate {
  /**
   * Lets a request run, or throws a `StatusError` to refuse it, or a `DropConnection`. It releases
   * an answer that it does not return.
   */
  pass<Answer extends Releasable>(
    request: GatedRequest,
    handle: () => Promise<Answer>,
  ): Promise<Answer>;
}
