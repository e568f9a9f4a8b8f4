import { readFileSync } from "node:fs";
import type { TlsConfig } from "./driver.ts";

/** Where the database is, as a `postgres://` URL tells. */
export interface PostgresAddress {
  /** Tried in order until one of them takes writes. */
  readonly hosts: readonly PostgresHost[];
  readonly user: string | undefined;
  /** Absent: `pg` looks for it in the environment (`PGPASSWORD`). */
  readonly password: string | undefined;
  readonly database: string | undefined;
  readonly schema: string;
  readonly ssl: false | TlsConfig;
  /** The URL without its password, for messages. */
  readonly shown: string;
}

export interface PostgresHost {
  /** A name, an address, or the folder of a Unix socket. */
  readonly host: string;
  readonly port: number;
}

const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = "lazuli";
const PARAMETERS = ["host", "schema", "sslmode", "sslrootcert", "sslcert", "sslkey"];
const SSL_MODES = ["disable", "require", "verify-ca", "verify-full"];

const URL_PARTS =
  /^postgres(?:ql)?:\/\/(?:(?<user>[^:@/?#]*)(?::(?<password>[^@/?#]*))?@)?(?<hosts>[^@/?#]*)(?:\/(?<database>[^@?#]*))?(?:\?(?<query>[^@#]*))?$/;

/** Reads a URL. Throws an Error that says in one line what is wrong, without the password. */
export function readAddress(url: string, read = readFileSync): PostgresAddress {
  const parts = URL_PARTS.exec(url)?.groups;
  if (parts === undefined) {
    // An @ further on belongs to a password that is not encoded, with a @ or / in it. It would be
    // taken for a host, and shown.
    throw new Error(
      "it must look like postgres://user:password@host:5432/database, " +
        "with @ as %40, / as %2F, ? as %3F and # as %23 in user and password",
    );
  }
  const query = new URLSearchParams(parts.query ?? "");
  for (const name of query.keys()) {
    if (!PARAMETERS.includes(name)) {
      throw new Error(`there is no parameter "${name}": use ${PARAMETERS.join(", ")}`);
    }
  }
  const schema = query.get("schema") ?? DEFAULT_SCHEMA;
  if (!/^[a-z_][a-z0-9_]{0,62}$/.test(schema)) {
    throw new Error(`schema=${schema} is no plain name of small letters, digits and _`);
  }
  const named = decode(parts.hosts ?? "")
    .split(",")
    .map(readHost);
  const folder = query.get("host");
  // A Unix socket has a port in its name, too: that of the URL.
  const hosts = folder === null ? named : [{ host: folder, port: named[0]?.port ?? DEFAULT_PORT }];
  const { user, password, database } = parts;
  return {
    hosts,
    user: decode(user) || undefined,
    password: decode(password) || undefined,
    database: decode(database) || undefined,
    schema,
    ssl: readTls(query, read),
    shown: password === undefined ? url : url.replace(`:${password}@`, ":***@"),
  };
}

function decode(text: string): string;
function decode(text: string | undefined): string | undefined;
function decode(text: string | undefined): string | undefined {
  if (text === undefined) return undefined;
  try {
    return decodeURIComponent(text);
  } catch {
    throw new Error("a % in it is not followed by two hexadecimal digits");
  }
}

function readHost(text: string): PostgresHost {
  const parts = /^(?<host>\[[0-9a-fA-F:.]+\]|[^:[\]]*)(?::(?<port>\d{1,5}))?$/.exec(text)?.groups;
  const port = Number(parts?.port ?? DEFAULT_PORT);
  if (parts === undefined || port === 0 || port > 65_535) {
    // It is not shown: with a / in a password, it is the user and a part of the password.
    throw new Error("what it has for the server is no host and port");
  }
  return { host: (parts.host || "localhost").replace(/^\[|\]$/g, ""), port };
}

function readTls(query: URLSearchParams, read: typeof readFileSync): false | TlsConfig {
  const file = (name: string) => readNamed(name, query.get(name), read);
  const mode = query.get("sslmode") ?? "disable";
  if (!SSL_MODES.includes(mode)) {
    throw new Error(`sslmode=${mode} is not one of ${SSL_MODES.join(", ")}`);
  }
  if (mode === "disable") return false;
  const files = { ca: file("sslrootcert"), cert: file("sslcert"), key: file("sslkey") };
  const given = Object.fromEntries(Object.entries(files).filter(([, text]) => text !== undefined));
  // As in PostgreSQL's own programs: verify-ca trusts the issuer, whatever the name of the host.
  if (mode === "verify-full") return { ...given, rejectUnauthorized: true };
  if (mode === "require") return { ...given, rejectUnauthorized: false };
  return { ...given, rejectUnauthorized: true, checkServerIdentity: () => undefined };
}

function readNamed(
  name: string,
  path: string | null,
  read: typeof readFileSync,
): string | undefined {
  if (path === null) return undefined;
  try {
    return read(path, "utf8");
  } catch (error) {
    throw new Error(`${name}=${path} cannot be read (${(error as Error).message})`);
  }
}
