import type { SecureContextOptions } from "node:tls";
import type { Bytes } from "../../base/bytes.ts";

/** The part of the package `pg` that the engine uses. */
export interface Driver {
  readonly Client: new (config: ClientConfig) => Client;
}

export interface ClientConfig {
  readonly host: string;
  readonly port: number;
  readonly user: string | undefined;
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly ssl: false | TlsConfig;
  readonly keepAlive: boolean;
  readonly connectionTimeoutMillis: number;
  readonly application_name: string;
}

export interface TlsConfig extends SecureContextOptions {
  readonly rejectUnauthorized: boolean;
  /** Absent: the name in the certificate must be that of the host. */
  checkServerIdentity?(): undefined;
}

export interface Client {
  readonly connection: Connection;
  connect(): Promise<unknown>;
  /** Sends statements in the simple protocol, without parameters. */
  query(text: string): Promise<unknown>;
  /** Queues a query that writes its messages by itself. */
  query(submittable: Submittable): unknown;
  on(event: "error", listener: (error: Error) => void): void;
  on(event: "end", listener: () => void): void;
  on(event: "notification", listener: (message: Notification) => void): void;
  end(): Promise<void>;
}

/** What `NOTIFY` sent to a channel. */
export interface Notification {
  readonly payload?: string;
}

/** The messages of PostgreSQL's extended query protocol. */
export interface Connection {
  readonly stream: { cork(): void; uncork(): void; destroy(): void };
  parse(message: { name: string; text: string }): void;
  bind(message: { statement: string; values: readonly Value[] }): void;
  execute(): void;
  sync(): void;
}

/** A parameter: text, or bytes in PostgreSQL's binary format. */
export type Value = string | Bytes | null;

/** What `pg` calls for the query that is being answered. */
export interface Submittable {
  submit(connection: Connection): void;
  handleDataRow(message: { readonly fields: Row }): void;
  handleCommandComplete(): void;
  handleReadyForQuery(): void;
  handleError(error: Error): void;
}

/** The columns of a row, as text. */
export type Row = readonly (string | null)[];

/** Loads `pg`, an optional dependency. Throws an Error with what to do if it is not installed. */
export async function loadDriver(): Promise<Driver> {
  try {
    const loaded: { readonly default: Driver } = await import(DRIVER);
    return loaded.default;
  } catch (error) {
    throw new Error("the package pg is not installed: run `npm install pg`", { cause: error });
  }
}

/** Not a literal, so that the compiler needs no types of an optional package. */
const DRIVER: string = "pg";
