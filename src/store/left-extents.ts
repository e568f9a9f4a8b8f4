/** Extents by the process that made them, for engines on which many processes make extents. */
export interface LeftExtents {
  /** Gives up the uploads that a process has not finished. Call it only after its end. */
  abortUploads(maker: number): Promise<void>;
  /** The extents that a process has made and nobody has removed, page by page. */
  extentsOf(maker: number): AsyncIterable<readonly number[]>;
  /**
   * Frees an extent's space now. The caller makes sure that none of its bytes are in use, and that
   * nobody reads them any more.
   */
  discard(extent: number): Promise<void>;
}
