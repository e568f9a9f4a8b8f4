import type { CommandName } from "./flags.ts";
import { UsageError } from "./start-error.ts";

/** The flags of a command line. */
export interface GivenFlags {
  has(name: string): boolean;
  text(name: string): string | null;
}

export type AccountCommand = Extract<CommandName, `account ${string}`>;

/** What `lazuli account` is asked to do. */
export type AccountAsked = AccountPlace & {
  /** Print keys in full. */
  readonly showKeys: boolean;
} & (
    | {
        readonly command: "account list";
        readonly name: string | null;
        /** Print connection strings instead. */
        readonly connectionString: boolean;
      }
    | {
        readonly command: "account add";
        readonly name: string;
        /** `-` for standard input; null for new ones. */
        readonly keys: string | null;
        /** The name of its database; null for that of `--records`, or the data folder. */
        readonly database: string | null;
      }
    | { readonly command: "account remove"; readonly name: string }
    | {
        readonly command: "account rotate-key";
        readonly name: string;
        readonly keyName: KeyName;
      }
  );

export interface AccountPlace {
  readonly configFile: string;
  /** The data folder of the server to reload. */
  readonly location: string;
  /** The value of AZURITE_ACCOUNTS. */
  readonly accountList: string | null;
}

export const KEY_NAMES = ["key1", "key2"] as const;

export type KeyName = (typeof KEY_NAMES)[number];

/** Reads the flags of `lazuli account`. Throws a `UsageError`. */
export function readAccountCommand(
  command: AccountCommand,
  name: string | null,
  given: GivenFlags,
  place: Omit<AccountPlace, "configFile">,
): AccountAsked {
  const configFile = given.text("config");
  if (configFile === null) {
    throw new UsageError(
      `\`lazuli ${command}\` needs the configuration file: --config <file>. A new one is made if ` +
        "it is missing.",
    );
  }
  const common = { ...place, configFile, showKeys: given.has("showKeys") };
  if (command === "account list") {
    return { ...common, command, name, connectionString: readConnectionString(given) };
  }
  // The words were checked: only the list goes without a name.
  const one = { ...common, name: name ?? "" };
  switch (command) {
    case "account add":
      return {
        ...one,
        command,
        keys: given.text("accountKeys"),
        database: given.text("database"),
      };
    case "account remove":
      return { ...one, command };
    case "account rotate-key":
      return { ...one, command, keyName: readKeyName(given) };
  }
}

function readConnectionString(given: GivenFlags): boolean {
  const isAsked = given.has("connectionString");
  if (!isAsked || !given.has("showKeys")) return isAsked;
  throw new UsageError(
    "--connectionString and --showKeys both print keys, in different forms: leave one of them out.",
  );
}

function readKeyName(given: GivenFlags): KeyName {
  const keyName = KEY_NAMES.find((one) => one === given.text("keyName"));
  if (keyName !== undefined) return keyName;
  throw new UsageError(
    "Say which key is replaced: --keyName key1 or --keyName key2. The other one stays valid.",
  );
}
