/** Names that a client gives an open, beside the id that the server gives it. */
export interface OpenNames {
  /** The GUID of the client machine. */
  readonly client: string;
  /** The create GUID, which a repeated request has again; null if the client gives none. */
  readonly create: string | null;
  /** The instance of a program that may fail over to another machine; null for others. */
  readonly instance: string | null;
}
