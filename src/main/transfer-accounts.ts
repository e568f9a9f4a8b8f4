import { randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { isDataFolder } from "../engine/embedded/data-folder.ts";
import { type AccountAddress, readAccountAddress } from "../transfer/account-address.ts";
import type { ServiceKind } from "../transfer/item.ts";
import { RestClient } from "../transfer/rest-client.ts";
import { DEVELOPMENT_ACCOUNT, splitAccountList } from "./accounts.ts";
import { type AccountConfig, readConfig } from "./config-file.ts";
import { accountUrls, type UrlsByService } from "./connection-string.ts";
import { readControl } from "./control-file.ts";
import { health } from "./health-command.ts";
import { readFile } from "./read-file.ts";
import { start } from "./start.ts";
import { StartError, UsageError } from "./start-error.ts";
import type { StartAccount } from "./start-options.ts";
import type { TransferAsked } from "./transfer-flags.ts";

/** The accounts that a transfer works on. */
export interface TransferAccounts {
  /** Where they are, for messages. */
  readonly where: string;
  /** The first one is the default. */
  readonly names: readonly string[];
  client(name: string): RestClient;
  close(): Promise<void>;
}

type Asked = Pick<
  TransferAsked,
  "server" | "location" | "configFile" | "accountList" | "parallel" | "command"
>;

const KEY_BYTES = 64;
const SILENT = { out: () => {}, err: () => {} };

/**
 * Finds the accounts: at the given address; else of the server that runs on the data folder; else
 * in the folder itself, which a server of this process opens meanwhile. `others` are accounts that
 * this server has in addition. Throws a `StartError`.
 */
export async function openAccounts(
  asked: Asked,
  input: () => Promise<string>,
  others: readonly string[],
): Promise<TransferAccounts> {
  if (asked.server !== null) {
    const text = asked.server === "-" ? (await input()).trim() : asked.server;
    const address = readAccountAddress(text);
    return accountsAt(address.urls.blob ?? "the server", [address], asked.parallel, false);
  }
  const folder = resolve(asked.location);
  const running = await runningServer(folder);
  if (running !== null) {
    const configured = configuredAccounts({
      ...asked,
      configFile: asked.configFile ?? running.config,
    });
    const addresses = configured.map(({ name, keys: [key = ""] }) =>
      addressOf(name, key, running.urls),
    );
    return accountsAt(`the server on ${folder}`, addresses, asked.parallel, true);
  }
  return openFolder(folder, asked, others);
}

function accountsAt(
  where: string,
  addresses: readonly AccountAddress[],
  parallel: number,
  isLocal: boolean,
  stop: () => Promise<void> = async () => {},
): TransferAccounts {
  const clients = new Map(
    addresses.map((address) => [address.name, new RestClient(address, parallel, isLocal)]),
  );
  return {
    where,
    names: [...clients.keys()],
    client: (name) => {
      const client = clients.get(name);
      if (client !== undefined) return client;
      const names = [...clients.keys()].join(", ");
      throw new UsageError(`There is no account "${name}" in ${where}. It has: ${names}.`);
    },
    close: async () => {
      for (const client of clients.values()) client.close();
      await stop();
    },
  };
}

/** The URLs of the server on a folder; null if none runs there. */
async function runningServer(
  folder: string,
): Promise<{ urls: UrlsByService; config: string | null } | null> {
  const control = await readControl(folder);
  const origins = Object.values(control?.urls ?? {});
  if (control === null || origins.length === 0) return null;
  return (await health(origins, SILENT)) === 0 ? control : null;
}

function configuredAccounts({ configFile, accountList }: Asked): readonly AccountConfig[] {
  const file = configFile === null ? null : readConfig(configFile, `${readFile(configFile)}`);
  if (file?.accounts !== undefined) return file.accounts;
  return accountList === null ? [DEVELOPMENT_ACCOUNT] : splitAccountList(accountList);
}

function addressOf(name: string, key: string, urls: UrlsByService): AccountAddress {
  const { blob, queue, table, file } = accountUrls(name, urls);
  const own = Object.entries({ blob, queue, table, file }).filter(([, url]) => url !== undefined);
  return { name, urls: Object.fromEntries(own), credentials: { key } };
}

/** The account with the settings that its data depends on, in the words of `start`. */
function startAccount({ name, blob, file }: AccountConfig, key: string): StartAccount {
  return { name, keys: [key], blob: givenOf(blob), file: givenOf(file) };
}

/** What a configuration file leaves out is null once it is read. */
function givenOf(settings: object = {}): NonNullable<StartAccount["blob"] & StartAccount["file"]> {
  return Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== null));
}

const SERVICES: readonly ServiceKind[] = ["blob", "queue", "table", "file"];

/**
 * Serves the folder on loopback ports meanwhile, with keys that nobody else knows: keys are not
 * stored with the data.
 */
async function openFolder(
  folder: string,
  asked: Asked,
  others: readonly string[],
): Promise<TransferAccounts> {
  if (asked.command === "export" && !(await isDataFolder(folder))) {
    throw new StartError(
      `${folder} is not a data folder. Say where the data lives with --location, or --server.`,
    );
  }
  const key = randomBytes(KEY_BYTES).toString("base64");
  // The data of an account that names a database is there, and not in the folder.
  const configured = configuredAccounts(asked).filter(({ database }) => database === undefined);
  const added = others.filter((name) => configured.every((one) => one.name !== name));
  const accounts = [
    ...configured.map((account) => startAccount(account, key)),
    ...added.map((name) => ({ name, keys: [key] })),
  ];
  const server = await start({ location: folder, accounts, services: SERVICES });
  const addresses = accounts.map(({ name }) => addressOf(name, key, server.urls));
  return accountsAt(folder, addresses, asked.parallel, true, () => server.stop());
}
