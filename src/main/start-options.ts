// The types of the programmatic start. They import nothing: the package ships them as they are.

/** A service that `start` can start. */
export type StartService = "blob" | "queue" | "table" | "file" | "dfs" | "smb";

/** An account, in the words of the configuration file. */
export interface StartAccount {
  readonly name: string;
  /** One or two, in Base64. */
  readonly keys: readonly string[];
  /** Host names of this account, without a port. */
  readonly domains?: readonly string[];
  readonly blob?: {
    readonly versioning?: boolean;
    readonly containerRetentionDays?: number;
    readonly hierarchicalNamespace?: boolean;
  };
  readonly file?: { readonly shareRetentionDays?: number };
}

/**
 * Options of `start`: the flags of the command line, without their dashes. Two defaults differ:
 * data stays in memory unless `location` is given, and each service takes a free port.
 */
export interface StartOptions extends StartHosts, StartPorts, StartKeepAliveTimeouts {
  /** The services to start (default: all). */
  readonly services?: readonly StartService[];
  /** Accounts and their keys (default: `devstoreaccount1` with its well-known key). */
  readonly accounts?: readonly StartAccount[];
  /** The configuration: the path of a file, or what would be in it. */
  readonly config?: string | Readonly<Record<string, unknown>>;
  /** Receives the lines that the command line prints: warnings, failures, and `log: "-"`. */
  readonly onLine?: (line: string) => void;

  /** The folder of the data, which is made if it is missing (default: data stays in memory). */
  readonly location?: string;
  /** Keep everything in memory; the default without `location`. */
  readonly inMemoryPersistence?: boolean;
  /** Most memory for stored bytes, in MiB. Only in memory. */
  readonly extentMemoryLimit?: number;
  /** Share records with other servers: the `postgres://` URL of a database. */
  readonly records?: string;
  /** A bucket for large bodies, `s3://bucket/prefix`; with `records` also a folder. */
  readonly bytes?: string;
  /** The bucket's object store (default: AWS in the region). */
  readonly s3Endpoint?: string;
  /** Its region (default: `us-east-1`). */
  readonly s3Region?: string;
  /** Whether its URLs have the bucket in their path or in their host. */
  readonly s3AddressStyle?: "path" | "host";
  /** A file with its key, as in `~/.aws/credentials`. */
  readonly s3Credentials?: string;
  /** Authorities to trust for its certificate: a PEM file. */
  readonly s3Ca?: string;
  /** What the data shall have at the start: the path of a file, or what would be in it. */
  readonly seed?: string | Readonly<Record<string, unknown>>;
  /** Start although the write-ahead log has lost acknowledged writes. */
  readonly acceptDataLoss?: boolean;
  /** Search for damage in the background, reading this many MiB a second. */
  readonly scrub?: number;

  /** The address of all services (default: `127.0.0.1`). */
  readonly host?: string;
  /** The HTTP parser: `own` (default), or `node` for that of `node:http`. */
  readonly listener?: "own" | "node";
  /** Take the account from the path only, never from the host name. */
  readonly disableProductStyleUrl?: boolean;
  /** Most connections at a time, for each service. */
  readonly maxConnections?: number;
  /** Most of them from one address. */
  readonly maxConnectionsPerAddress?: number;
  /** How many seconds `stop` goes on serving, until balancers have noticed (default: 0). */
  readonly stopDelay?: number;

  /** Serve HTTPS with this certificate: a PEM or PFX file. */
  readonly cert?: string;
  /** The key file of a PEM certificate. */
  readonly key?: string;
  /** The password of a PFX certificate or PEM key. */
  readonly pwd?: string;
  /** Accept bearer tokens by their claims; signatures are not checked. */
  readonly oauth?: "basic";
  /** Let others in with a well-known or short key, or with `oauth: "basic"`. */
  readonly trustNetwork?: boolean;
  /** SMB: `required` (default beyond loopback), `preferred` or `off`. */
  readonly smbEncryption?: "required" | "preferred" | "off";
  /** SMB: refuse older dialects. */
  readonly smbMinDialect?: "2.0.2" | "2.1" | "3.0" | "3.0.2" | "3.1.1";

  /** Write a line for each request to this file; `-` sends it to `onLine`. */
  readonly log?: string;
  /** The format of these lines: `text` (default) or `json`. */
  readonly logFormat?: "text" | "json";
  /** Write a debug log to this file, without secrets. */
  readonly debug?: string;
  /** Serve metrics for Prometheus on this port; 0 is any free one (default: off). */
  readonly metricsPort?: number;
  /** The address of the metrics (default: `127.0.0.1`). */
  readonly metricsHost?: string;
  /** Serve the web console on this port; 0 is any free one (default: off). */
  readonly consolePort?: number;
  /** The address of the console (default: `127.0.0.1`); others need `cert`. */
  readonly consoleHost?: string;

  /** Let tests move the clock, and make requests fail or wait: see `labUrl`, and `lazuli/lab`. */
  readonly lab?: boolean;
  /** The port of the lab (default: 0, which is any free one). */
  readonly labPort?: number;
}

/** The address of a service; default: `host`. */
export type StartHosts = { readonly [Service in StartService as `${Service}Host`]?: string };

/** The port of a service; default: 0, which is any free one. */
export type StartPorts = { readonly [Service in StartService as `${Service}Port`]?: number };

/** How many seconds an idle connection of a service stays open. */
export type StartKeepAliveTimeouts = {
  readonly [Service in Exclude<StartService, "smb"> as `${Service}KeepAliveTimeout`]?: number;
};
