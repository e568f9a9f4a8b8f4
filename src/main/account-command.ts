import { createHash, randomBytes } from "node:crypto";
import { resolve } from "node:path";
import { type AccountSettings, accountsOf } from "../front/rest/auth/account.ts";
import type { AccountAsked, AccountPlace, KeyName } from "./account-flags.ts";
import { DEVELOPMENT_ACCOUNT, weakKeys } from "./accounts.ts";
import { type AccountConfig, readConfig } from "./config-file.ts";
import { accountUrls, connectionString, type UrlsByService } from "./connection-string.ts";
import { readControl } from "./control-file.ts";
import { appendItem, insertMember, removeItem, replaceValue } from "./edit-json.ts";
import { health } from "./health-command.ts";
import { type JsonList, type JsonObject, parseJson } from "./json-text.ts";
import { askToReload } from "./reload-command.ts";
import { readIfThere, replaceFile } from "./replace-file.ts";
import { StartError, UsageError } from "./start-error.ts";

export interface AccountSurroundings {
  readonly out: (line: string) => void;
  /** Reads standard input to its end. */
  readonly input: () => Promise<string>;
}

/** As many as Azure's have. */
const KEY_BYTES = 64;
const EMPTY_FILE = "{}\n";

/** Runs `lazuli account …`. Throws a `StartError`; nothing has changed then. */
export async function runAccountCommand(
  asked: AccountAsked,
  around: AccountSurroundings,
): Promise<void> {
  requireNoAccountList(asked);
  const file = await ConfigFile.read(asked.configFile);
  switch (asked.command) {
    case "account list":
      for (const line of await list(file, asked)) around.out(line);
      return;
    case "account add": {
      const { name, database } = asked;
      const keys = await keysOf(asked.keys, around);
      const account = { name, keys, ...(database === null ? {} : { database }) };
      const first = file.accounts === null ? FIRST : "";
      const note = await change(file, add(file, account), asked);
      around.out(`Added the account ${asked.name} to ${asked.configFile}.${first}`);
      around.out(note);
      return showKeys(account, asked, around);
    }
    case "account remove": {
      const note = await change(file, remove(file, asked.name), asked);
      around.out(`Removed the account ${asked.name} from ${asked.configFile}. Its data stays.`);
      return around.out(note);
    }
    case "account rotate-key": {
      const keys = rotated(file.find(asked.name).account, asked.keyName);
      const note = await change(file, file.withKeys(asked.name, keys), asked);
      around.out(`Replaced ${asked.keyName} of the account ${asked.name} in ${asked.configFile}.`);
      around.out(note);
      return showKeys({ name: asked.name, keys }, asked, around);
    }
  }
}

const FIRST = ` ${DEVELOPMENT_ACCOUNT.name}, the account of servers without a list, is not in it.`;

function requireNoAccountList({ accountList, configFile }: AccountPlace): void {
  if (accountList === null) return;
  throw new UsageError(
    "AZURITE_ACCOUNTS is set: a server with it has the accounts in there, and reads them at its " +
      `start only. Unset it for the server and here, to have accounts in ${configFile}.`,
  );
}

/** A configuration file that is to be changed. */
class ConfigFile {
  readonly path: string;
  /** Null if there is no file yet. */
  readonly before: string | null;
  readonly text: string;
  /** Null if the file lists none. */
  readonly accounts: readonly AccountConfig[] | null;
  readonly #top: JsonObject;

  private constructor(path: string, before: string | null) {
    this.path = path;
    this.before = before;
    this.text = before ?? EMPTY_FILE;
    this.accounts = readConfig(path, this.text).accounts ?? null;
    this.#top = parseJson(this.text) as JsonObject;
  }

  static async read(path: string): Promise<ConfigFile> {
    return new ConfigFile(path, await readIfThere(path));
  }

  find(name: string): { account: AccountConfig; index: number } {
    const index = this.accounts?.findIndex((one) => one.name === name) ?? -1;
    const account = this.accounts?.[index];
    if (account !== undefined) return { account, index };
    const names = this.accounts?.map((one) => one.name).join(", ") ?? "none";
    throw new UsageError(`${this.path} has no account "${name}". It has: ${names}.`);
  }

  withAccount(account: AccountConfig): string {
    const accounts = this.#list();
    return accounts === null
      ? insertMember(this.text, this.#top, "accounts", [account])
      : appendItem(this.text, accounts, account);
  }

  without(name: string): string {
    return removeItem(this.text, this.#list() as JsonList, this.find(name).index);
  }

  withKeys(name: string, keys: readonly string[]): string {
    const fields = this.#list()?.items[this.find(name).index] as JsonObject;
    const old = fields.members.find((member) => member.name === "keys")?.value as JsonList;
    // Each key by itself, so that the list keeps its lines.
    return keys.reduceRight((text, key, at) => {
      const item = old.items[at];
      return item === undefined ? appendItem(text, old, key) : replaceValue(text, item, key);
    }, this.text);
  }

  #list(): JsonList | null {
    const found = this.#top.members.find(({ name }) => name === "accounts");
    return found === undefined ? null : (found.value as JsonList);
  }
}

type ListAsked = Extract<AccountAsked, { command: "account list" }>;

async function list(file: ConfigFile, asked: ListAsked): Promise<string[]> {
  if (file.before === null) throw new StartError(`${file.path} does not exist. Check the path.`);
  const { name, showKeys: isFull } = asked;
  const listed = name === null ? file.accounts : [file.find(name).account];
  if (asked.connectionString) {
    const urls = await urlsOfServer(file, asked);
    return (listed ?? [DEVELOPMENT_ACCOUNT]).map(({ name: own, keys: [key = ""] }) =>
      connectionString(own, key, accountUrls(own, urls)),
    );
  }
  if (listed !== null) return listed.map((account) => lineOf(account, isFull));
  return [`${file.path} lists no accounts: a server with it has ${DEVELOPMENT_ACCOUNT.name} only.`];
}

/** The URLs of the server that uses the file: only a running server has a port for certain. */
async function urlsOfServer(file: ConfigFile, { location }: AccountPlace): Promise<UrlsByService> {
  const folder = resolve(location);
  const control = await readControl(folder);
  const urls = control?.config === resolve(file.path) ? control.urls : {};
  const origins = Object.values(urls);
  const isServed = origins.length > 0 && (await health(origins, SILENT)) === 0;
  if (isServed) return urls;
  throw new StartError(
    `No server on ${folder} with a REST service uses ${file.path}, and only a running server knows ` +
      "its ports. Start it, or give its data folder with --location.",
  );
}

const SILENT = { out: () => {}, err: () => {} };

/** An account in a line: `shop key1=SHA256:1f0e… key2=SHA256:9a3b…`. */
function lineOf({ name, keys, domains = [] }: AccountSettings, isFull: boolean): string {
  const shown = keys.map((key, at) => `key${at + 1}=${isFull ? key : fingerprint(key)}`);
  return [name, ...shown, ...domains.map((domain) => `domain=${domain}`)].join(" ");
}

const FINGERPRINT_CHARS = 16;

/** Tells keys apart, and gives none away. */
function fingerprint(key: string): string {
  const digest = createHash("sha256").update(Buffer.from(key, "base64")).digest("hex");
  return `SHA256:${digest.slice(0, FINGERPRINT_CHARS)}`;
}

function showKeys(
  account: AccountSettings,
  { showKeys: isFull, configFile }: AccountAsked,
  { out }: AccountSurroundings,
): void {
  if (isFull) out(lineOf(account, true));
  else out(`Its keys: lazuli account list ${account.name} --config ${configFile} --showKeys`);
}

function newKey(): string {
  return randomBytes(KEY_BYTES).toString("base64");
}

async function keysOf(given: string | null, { input }: AccountSurroundings): Promise<string[]> {
  if (given === null) return [newKey(), newKey()];
  const text = given === "-" ? await input() : given;
  // `openssl rand -base64 64` breaks a key into lines.
  return text.replaceAll(/\s+/g, "").split(",");
}

function add(file: ConfigFile, account: AccountConfig): string {
  if (file.accounts?.some(({ name }) => name === account.name)) {
    throw new UsageError(
      `${file.path} has an account "${account.name}" already. New keys: lazuli account rotate-key.`,
    );
  }
  try {
    accountsOf([account]);
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
  const [weak] = weakKeys([account]);
  if (weak !== undefined) {
    throw new UsageError(`No account was added: ${weak}. Leave --accountKeys out for new keys.`);
  }
  return file.withAccount(account);
}

function remove(file: ConfigFile, name: string): string {
  file.find(name);
  if (file.accounts?.length === 1) {
    throw new UsageError(
      `"${name}" is the only account in ${file.path}, and a server needs one. Add another first.`,
    );
  }
  return file.without(name);
}

function rotated({ keys: [key1 = "", key2] }: AccountConfig, keyName: KeyName): string[] {
  if (keyName === "key2") return [key1, newKey()];
  return key2 === undefined ? [newKey()] : [newKey(), key2];
}

/**
 * Replaces the file, and makes its server reload. Returns a line about that. If the server refuses,
 * the file is as before.
 */
async function change(file: ConfigFile, text: string, { location }: AccountPlace): Promise<string> {
  const { records, databases } = readConfig(file.path, text);
  await replaceFile(file.path, file.before, text);
  const folder = resolve(location);
  const control = await readControl(folder);
  const isUsed = control?.config === resolve(file.path);
  if (isUsed && control?.origin === null) {
    return `Its server speaks SMB only: send SIGHUP to its process ${control.pid}.`;
  }
  const done = isUsed && control ? await askToReload(control) : null;
  if (done === null && (records !== undefined || databases !== undefined)) {
    const which = databases === undefined ? "" : " --database <one of them>";
    return `When all front ends have this file: lazuli reload --config ${file.path}${which}.`;
  }
  if (done === null) {
    return (
      `No server on ${folder} uses ${file.path}. If one runs elsewhere: lazuli reload --location ` +
      "<folder>, or send SIGHUP to its process."
    );
  }
  if (done.isReloaded) return done.line;
  await replaceFile(file.path, text, file.before);
  throw new StartError(`${done.line} ${file.path} is as before.`);
}
