export type ServiceName = "blob" | "dfs" | "file" | "queue" | "table";

/**
 * What a request addresses, decoded, as routing found it. A SAS is checked against the very names
 * that the operation will use, so the two cannot read a URL differently.
 */
export interface Resource {
  readonly service: ServiceName;
  /** Container, share, queue or table; "" for the account itself. */
  readonly container: string;
  /** Blob, or path within the share; "" where there is none. */
  readonly name: string;
  /**
   * Whether a token must say that it means to override permissions of files: what is addressed is
   * a file or a directory.
   */
  readonly needsIntent?: boolean;
}

/** The letter of a service in `ss` of an account SAS and in `sks` of a user delegation key. */
export const SERVICE_LETTERS: Readonly<Record<ServiceName, string>> = {
  blob: "b",
  dfs: "b",
  file: "f",
  queue: "q",
  table: "t",
};
