/** The commands of `lazuli`: its first words. Without one it starts the server. */
export const COMMANDS = {
  start: "Serve the protocols. This is the default command.",
  verify: "Read all data, and name what is damaged.",
  backup: "Write a backup of all data, also of a running server.",
  restore: "Restore a backup into an empty folder or database.",
  seed: "Make a running server have what a file says.",
  usage: "Show what takes the space, by place or prefix.",
  holders: "Show who holds what: leases, SMB opens, locks, messages.",
  health: "Ask a running server whether it serves; the exit code tells.",
  reload: "Make the server, or all front ends, read the configuration again.",
  import: "Bring data in: from Azurite, an export, files, or an account.",
  export: "Write an account to a new folder, or a .tar, .tar.gz or .tar.zst.",
  "account list": "Show the accounts of a configuration file.",
  "account add": "Add an account with two new keys to it.",
  "account remove": "Remove an account from it; its data stays.",
  "account rotate-key": "Replace one key of an account; the other one stays valid.",
  "lab status": "Show clocks, rules, held requests and saved states.",
  "lab clock": "Change it: move 20s, back 5m, set <time>, freeze, resume, reset.",
  "lab rule": "Make requests fail or wait: operation=PutBlob answer=503.",
  "lab waiting": "List the requests that rules hold.",
  "lab release": "Let the held requests of a rule go on, or all.",
  "lab clear": "Remove a rule, or all of them, and let go whom they hold.",
  "lab seed": "Make the chances of rules repeat.",
  "lab save": "Save the whole state of a server in memory.",
  "lab restore": "Go back to a saved state.",
  "lab reset": "Go back to an empty server, on time, without rules.",
  "lab record": "Record what clients do; stop prints it, for `lazuli check`.",
  "lab scene": "Let clients play a conflict, check what they saw, and draw it.",
  check: "Look for an order of operations that explains a history.",
} as const;

export type CommandName = keyof typeof COMMANDS;

/** What stands behind a command. */
export const ARGUMENTS: Readonly<Partial<Record<CommandName, string>>> = {
  backup: "<place>",
  restore: "<place>",
  seed: "<file>",
  usage: "[service/account/name]",
  holders: "[account/name]",
  import: "<source>",
  export: "<target>",
  "account list": "[name]",
  "account add": "<name>",
  "account remove": "<name>",
  "account rotate-key": "<name>",
  "lab clock": "<change…>",
  "lab rule": "<field=value…>",
  "lab release": "[rule]",
  "lab clear": "[rule]",
  "lab seed": "<number>",
  "lab save": "<name>",
  "lab restore": "<name>",
  "lab record": "<start|stop>",
  "lab scene": "<name>",
  check: "<file>",
};

const ACCOUNT_COMMANDS = [
  "account list",
  "account add",
  "account remove",
  "account rotate-key",
] as const;
/** Commands that also work on the records that front ends share, and on their bytes. */
const BYTES_COMMANDS = ["verify", "backup", "restore"] as const;
export const SHARED_COMMANDS = [...BYTES_COMMANDS, "usage", "reload"] as const;
const TRANSFER_COMMANDS = ["import", "export"] as const;
const LAB_COMMANDS = [
  "lab status",
  "lab clock",
  "lab rule",
  "lab waiting",
  "lab release",
  "lab clear",
  "lab seed",
  "lab save",
  "lab restore",
  "lab reset",
  "lab record",
  "lab scene",
] as const;
const ALL_COMMANDS = Object.keys(COMMANDS) as CommandName[];

/** A flag. The command line, the help page and the reference all come from the table of flags. */
export interface Flag {
  readonly name: string;
  readonly short?: string;
  /** The name of its value on the help page; null for a switch. */
  readonly value: string | null;
  readonly help: string;
  /** The commands that take it; default: only `start`. */
  readonly commands?: readonly CommandName[];
  /** An environment variable with its default, for images whose command line others write. */
  readonly env?: string;
  /** Its service; a program that does not start that service refuses the flag. */
  readonly service?: ServiceName;
  /** The reason why a flag of Azurite has no effect here. */
  readonly idle?: string;
  /** Whether users may rely on its effect in Azurite, and so get a warning. */
  readonly idleMatters?: true;
}

export interface FlagGroup {
  readonly title: string;
  readonly flags: readonly Flag[];
}

/** The services in the order of their ports, with Azurite's ports where it has one. */
export const SERVICES = {
  blob: { title: "Blob", port: 10_000 },
  queue: { title: "Queue", port: 10_001 },
  table: { title: "Table", port: 10_002 },
  file: { title: "File", port: 10_003 },
  dfs: { title: "DFS", port: 10_004 },
  smb: { title: "SMB", port: 10_445 },
} as const;

export type ServiceName = keyof typeof SERVICES;

/** The services over HTTP, each of which answers for the health of the whole server. */
export const REST_SERVICES = ["blob", "queue", "table", "file", "dfs"] as const;

export const SERVICE_NAMES = Object.keys(SERVICES) as ServiceName[];

export const DEFAULT_CONSOLE_PORT = 10_005;
export const DEFAULT_HOST = "127.0.0.1";
export const DEFAULT_LOCATION = "lazuli-data";
export const DEFAULT_LAB_PORT = 10_006;

export const FLAG_GROUPS: readonly FlagGroup[] = [
  {
    title: "Data",
    flags: [
      {
        name: "location",
        short: "l",
        value: "folder",
        help: `Data folder (default ${DEFAULT_LOCATION}).`,
        commands: [
          ...([
            "start",
            "verify",
            "backup",
            "restore",
            "seed",
            "usage",
            "holders",
            "reload",
          ] as const),
          ...TRANSFER_COMMANDS,
          ...ACCOUNT_COMMANDS,
        ],
        env: "LAZULI_LOCATION",
      },
      {
        name: "inMemoryPersistence",
        value: null,
        help: "Store everything in memory only.",
      },
      {
        name: "extentMemoryLimit",
        value: "MiB",
        help: "The most memory for stored bytes, with --inMemoryPersistence.",
      },
      {
        name: "records",
        value: "url",
        help: "Share records with others: postgres://user@host/database.",
        commands: ["start", ...SHARED_COMMANDS],
        env: "LAZULI_RECORDS",
      },
      {
        name: "bytes",
        value: "place",
        help: "A bucket for large bodies, or a shared folder.",
        commands: ["start", ...BYTES_COMMANDS],
        env: "LAZULI_BYTES",
      },
      {
        name: "s3Endpoint",
        value: "url",
        help: "The bucket's store (default: AWS in the region).",
        commands: ["start", ...BYTES_COMMANDS],
        env: "AWS_ENDPOINT_URL_S3",
      },
      {
        name: "s3Region",
        value: "name",
        help: "Its region (default us-east-1).",
        commands: ["start", ...BYTES_COMMANDS],
        env: "AWS_REGION",
      },
      {
        name: "s3AddressStyle",
        value: "style",
        help: "Its URLs have the bucket in path or host.",
        commands: ["start", ...BYTES_COMMANDS],
        env: "LAZULI_S3_ADDRESS_STYLE",
      },
      {
        name: "s3Credentials",
        value: "file",
        help: "Its key, as in ~/.aws/credentials.",
        commands: ["start", ...BYTES_COMMANDS],
      },
      {
        name: "s3Ca",
        value: "file",
        help: "Authorities to trust for its certificate (PEM).",
        commands: ["start", ...BYTES_COMMANDS],
        env: "AWS_CA_BUNDLE",
      },
      {
        name: "database",
        value: "name",
        help: "One of several databases of the configuration file.",
        commands: [...SHARED_COMMANDS, "account add"],
      },
      {
        name: "seed",
        value: "file",
        help: "First make what this file says: YAML or JSON.",
      },
      {
        name: "acceptDataLoss",
        value: null,
        help: "Start although the write-ahead log has lost acknowledged writes.",
      },
      {
        name: "scrub",
        value: "MiB",
        help: "Search for damage in the background, reading this much a second.",
      },
    ],
  },
  {
    title: "Addresses",
    flags: [
      {
        name: "services",
        value: "list",
        help: `Start only these, by commas: ${SERVICE_NAMES.join(",")}.`,
      },
      {
        name: "host",
        value: "address",
        help: `The address of all services (default ${DEFAULT_HOST}).`,
        commands: ["start", "health"],
        env: "LAZULI_HOST",
      },
      ...SERVICE_NAMES.flatMap((service) => [
        {
          name: `${service}Host`,
          value: "address",
          help: `${titleOf(service)}: its address.`,
          service,
          commands: addressCommands(service),
        },
        {
          name: `${service}Port`,
          value: "port",
          help: `${titleOf(service)}: port, 0 for any free one (default ${SERVICES[service].port}).`,
          service,
          commands: addressCommands(service),
        },
      ]),
      {
        name: "listener",
        value: "kind",
        help: "The HTTP parser: own (default), or node for that of node:http.",
      },
      {
        name: "disableProductStyleUrl",
        value: null,
        help: "Take the account only from the path, not from the host name.",
      },
      {
        name: "maxConnections",
        value: "number",
        help: "The most connections of each service at a time.",
      },
      {
        name: "maxConnectionsPerAddress",
        value: "number",
        help: "The most connections from one address (default: half of them).",
      },
      {
        name: "stopDelay",
        value: "seconds",
        help: "Serve on after SIGTERM, until balancers have noticed.",
        env: "LAZULI_STOP_DELAY",
      },
      ...REST_SERVICES.map((service) => ({
        name: `${service}KeepAliveTimeout`,
        value: "seconds",
        help: `${titleOf(service)}: how long an idle connection stays open.`,
        service,
      })),
    ],
  },
  {
    title: "Security",
    flags: [
      { name: "cert", value: "file", help: "Serve HTTPS with this certificate (PEM or PFX)." },
      { name: "key", value: "file", help: "The key of a PEM certificate." },
      { name: "pwd", value: "password", help: "The password of a PFX certificate or PEM key." },
      {
        name: "oauth",
        value: "basic",
        help: "Accept bearer tokens by their claims; signatures are not checked.",
      },
      {
        name: "trustNetwork",
        value: null,
        help: "Listen beyond loopback despite a weak key or --oauth basic.",
        env: "LAZULI_TRUST_NETWORK",
      },
      {
        name: "smbEncryption",
        value: "mode",
        help: "SMB: required (default beyond loopback), preferred or off.",
        service: "smb",
      },
      {
        name: "smbMinDialect",
        value: "dialect",
        help: "SMB: refuse older ones (default 3.0 beyond loopback, else 2.0.2).",
        service: "smb",
      },
      {
        name: "config",
        value: "file",
        help: "Configuration: accounts and more.",
        commands: ["start", ...SHARED_COMMANDS, ...TRANSFER_COMMANDS, ...ACCOUNT_COMMANDS],
      },
    ],
  },
  {
    title: "Backups (lazuli backup, lazuli restore)",
    flags: [
      {
        name: "keep",
        value: "number",
        help: "Keep this many backups there, and remove older ones.",
        commands: ["backup"],
      },
      {
        name: "check",
        value: null,
        help: "Make none, but read and verify all that are there.",
        commands: ["backup"],
      },
      {
        name: "backup",
        value: "name",
        help: "The backup to restore (default: the last one).",
        commands: ["restore"],
      },
    ],
  },
  {
    title: "Accounts (lazuli account)",
    flags: [
      {
        name: "accountKeys",
        value: "keys",
        help: "One key or two in Base64, a comma between; - reads standard input.",
        commands: ["account add"],
      },
      {
        name: "keyName",
        value: "name",
        help: "Which key is replaced: key1 or key2.",
        commands: ["account rotate-key"],
      },
      {
        name: "showKeys",
        value: null,
        help: "Print keys in full, and not only their fingerprints.",
        commands: ["account list", "account add", "account rotate-key"],
      },
      {
        name: "connectionString",
        value: null,
        help: "Print connection strings, keys included, and nothing else.",
        commands: ["account list"],
      },
    ],
  },
  {
    title: "Data in and out (lazuli import, lazuli export)",
    flags: [
      {
        name: "server",
        value: "address",
        help: "Connection string of the account; - reads standard input.",
        commands: TRANSFER_COMMANDS,
        env: "LAZULI_CONNECTION_STRING",
      },
      {
        name: "account",
        value: "name",
        help: "Which account (default: the first; lab clock: the server's).",
        commands: [...TRANSFER_COMMANDS, "lab clock", "lab scene"],
      },
      {
        name: "only",
        value: "list",
        help: "What to move: blob:logs-*,queue:*,table:t?,file:*.",
        commands: TRANSFER_COMMANDS,
      },
      {
        name: "into",
        value: "place",
        help: "For files: blob:container/prefix or file:share/folder.",
        commands: ["import"],
      },
      {
        name: "existing",
        value: "what",
        help: "What is there already: fail (default), skip or overwrite.",
        commands: ["import"],
      },
      {
        name: "parallel",
        value: "number",
        help: "Objects that are moved at the same time (default 16).",
        commands: TRANSFER_COMMANDS,
      },
    ],
  },
  {
    title: "Lab",
    flags: [
      {
        name: "lab",
        value: null,
        help: "Let tests on this machine move the clock, and make requests fail.",
      },
      {
        name: "labPort",
        value: "port",
        help: `Lab: port, 0 for any free one (default ${DEFAULT_LAB_PORT}).`,
        commands: ["start", ...LAB_COMMANDS],
        env: "LAZULI_LAB_PORT",
      },
      {
        name: "clients",
        value: "number",
        help: "How many clients play a scene, 2 to 16 (default 3).",
        commands: ["lab scene"],
      },
      {
        name: "svg",
        value: "file",
        help: "Draw the clients' requests and their order into this file.",
        commands: ["lab scene", "check"],
      },
    ],
  },
  {
    title: "Output",
    flags: [
      {
        name: "json",
        value: null,
        help: "Print results and progress as JSON.",
        commands: ["backup", "restore", "seed", "usage", "holders", ...TRANSFER_COMMANDS],
      },
      { name: "silent", short: "s", value: null, help: "Print nothing on standard output." },
      { name: "log", value: "file", help: "Write a line for each request; - is standard output." },
      {
        name: "logFormat",
        value: "format",
        help: "Format of these lines: text (default) or json.",
      },
      { name: "debug", short: "d", value: "file", help: "Write a debug log, without secrets." },
      {
        name: "metricsPort",
        value: "port",
        help: "Serve /metrics for Prometheus here, 0 for any port (default off).",
      },
      {
        name: "metricsHost",
        value: "address",
        help: `Metrics: listen here (default ${DEFAULT_HOST}).`,
      },
      {
        name: "consolePort",
        value: "port",
        help: `Serve the web console here, 0 for any port (default ${DEFAULT_CONSOLE_PORT}).`,
      },
      {
        name: "consoleHost",
        value: "address",
        help: `Console: listen here (default ${DEFAULT_HOST}); others need --cert.`,
      },
      { name: "noConsole", value: null, help: "Serve no web console." },
      {
        name: "version",
        short: "v",
        value: null,
        help: "Print the version.",
        commands: ALL_COMMANDS,
      },
      {
        name: "help",
        short: "h",
        value: null,
        help: "Print this page, or that of a command.",
        commands: ALL_COMMANDS,
      },
    ],
  },
  {
    title: "Accepted for scripts written for Azurite, without effect",
    flags: [
      {
        name: "loose",
        short: "L",
        value: null,
        help: "Nothing is ignored.",
        idle: "what is not supported is refused by name",
        idleMatters: true,
      },
      {
        name: "skipApiVersionCheck",
        value: null,
        help: "Every API version is accepted.",
        idle: "every well-formed API version is accepted anyway",
      },
      {
        name: "disableTelemetry",
        value: null,
        help: "There is no telemetry.",
        idle: "there is no telemetry",
      },
    ],
  },
];

export const FLAGS: readonly Flag[] = FLAG_GROUPS.flatMap((group) => group.flags);

/** Finds the flag that was probably meant: a wrong name is mostly in another case, or shortened. */
export function flagLike(name: string, flags: readonly Flag[]): Flag | undefined {
  const plain = (text: string) => text.toLowerCase().replaceAll("-", "");
  return (
    flags.find((flag) => plain(flag.name) === plain(name)) ??
    flags.find((flag) => plain(flag.name).startsWith(plain(name)))
  );
}

function addressCommands(service: ServiceName): readonly CommandName[] {
  return REST_SERVICES.some((name) => name === service) ? ["start", "health"] : ["start"];
}

function titleOf(service: ServiceName): string {
  return SERVICES[service].title;
}
