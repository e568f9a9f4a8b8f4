export type ServiceName = "blob" | "dfs" | "file" | "queue" | "table";

/**
 * The decoded resource that a request addresses, as routing found it. A SAS is checked against the
 * same names that the operation uses, so the two cannot read a URL differently.
 */
export interface Resource {
  readonly service: ServiceName;
  /** Container, share, queue or table; "" for the account itself. */
  readonly container: string;
  /** Blob, or path within the share; "" if there is none. */
  readonly name: string;
  /** Whether a bearer token needs the backup intent header: true for files and directories. */
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

export const SECONDARY_SUFFIX = "-secondary";
