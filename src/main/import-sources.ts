import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { isAccountAddress, readAccountAddress } from "../transfer/account-address.ts";
import { AccountSource } from "../transfer/account-source.ts";
import { azuriteAccounts } from "../transfer/azurite/azurite-folder.ts";
import { AzuriteSource } from "../transfer/azurite/azurite-source.ts";
import { Choice } from "../transfer/choice.ts";
import { ExportSource } from "../transfer/files/export-source.ts";
import { FolderTree, TarTree } from "../transfer/files/file-tree.ts";
import { TreeSource } from "../transfer/files/tree-source.ts";
import type { Source } from "../transfer/item.ts";
import { RestClient } from "../transfer/rest-client.ts";
import { isAzuriteFolder } from "./azurite-data.ts";
import { StartError, UsageError } from "./start-error.ts";
import type { TransferAsked } from "./transfer-flags.ts";

/** What an import brings in. */
export interface ImportSources {
  /** For the result: `the Azurite folder /data`. */
  readonly title: string;
  /** The accounts that the target must have. */
  readonly accounts: readonly string[];
  /** The source of each account of the target. `chosen` is where data without an account goes. */
  byAccount(chosen: string): readonly (readonly [account: string, open: OpenSource])[];
}

/** Opens a source; `onFailure` learns of what it cannot read. */
export type OpenSource = (onFailure: OnFailure) => Promise<Source>;

export type OnFailure = (name: string, reason: string) => void;

/** Finds out what the source is. Throws a `StartError`. */
export async function openImportSources(
  asked: TransferAsked,
  input: () => Promise<string>,
): Promise<ImportSources> {
  const { place } = asked;
  const choice = new Choice(asked.only);
  if (place === "-") return account((await input()).trim(), asked, choice);
  if (isAccountAddress(place)) return account(place, asked, choice);
  const path = resolve(place);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new StartError(`${path} does not exist. Check the path.`);
  const isFolder = found.isDirectory();
  if (isFolder && (await isAzuriteFolder(path))) return azurite(path, asked, choice);
  return files(path, isFolder, asked, choice);
}

/** Each account of the folder goes into the one of the same name. */
async function azurite(
  folder: string,
  asked: TransferAsked,
  choice: Choice,
): Promise<ImportSources> {
  requireNoInto(asked);
  const { account: name } = asked;
  const all = await azuriteAccounts(folder);
  if (name !== null && !all.includes(name)) {
    throw new UsageError(
      `${folder} has nothing of the account "${name}". It has: ${all.join(", ") || "nothing"}.`,
    );
  }
  const accounts = name === null ? all : [name];
  return {
    title: `the Azurite folder ${folder}`,
    accounts,
    byAccount: () =>
      accounts.map((own) => [own, () => AzuriteSource.open(folder, own, choice)] as const),
  };
}

function account(text: string, asked: TransferAsked, choice: Choice): ImportSources {
  requireNoInto(asked);
  const address = readAccountAddress(text);
  const open: OpenSource = async (onFailure) => {
    const client = new RestClient(address, asked.parallel);
    const source = new AccountSource(client, choice, (name, error) =>
      onFailure(name, (error as Error).message),
    );
    return {
      survey: () => source.survey(),
      items: () => source.items(),
      close: async () => client.close(),
    };
  };
  const accounts = asked.account === null ? [] : [asked.account];
  return {
    title: `the account ${address.name}`,
    accounts,
    byAccount: (chosen) => [[chosen, open]],
  };
}

/** An export, or plain files that go where `--into` says. */
async function files(
  path: string,
  isFolder: boolean,
  { into, account: name, only }: TransferAsked,
  choice: Choice,
): Promise<ImportSources> {
  const tree = isFolder ? new FolderTree(path) : await TarTree.open(path);
  const exported = into === null ? await ExportSource.open(tree, choice) : null;
  if (into === null && exported === null) {
    await tree.close();
    throw new UsageError(
      `${path} is neither an export nor a folder of Azurite. To import its files, say where: ` +
        "--into blob:container or --into file:share.",
    );
  }
  if (into !== null && only !== null) {
    throw new UsageError("--only chooses by names of containers and shares: leave it out.");
  }
  const open: OpenSource = async (onFailure) => {
    if (into === null) return exported as ExportSource;
    return new TreeSource(tree, into, onFailure);
  };
  return {
    title: into === null ? `the export ${path}` : `the files of ${path}`,
    accounts: name === null ? [] : [name],
    byAccount: (chosen) => [[chosen, open]],
  };
}

function requireNoInto({ into }: TransferAsked): void {
  if (into !== null) throw new UsageError("--into is for files. This source has its own names.");
}
