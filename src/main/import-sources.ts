import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { azuriteAccounts } from "../transfer/azurite/azurite-folder.ts";
import { AzuriteSource } from "../transfer/azurite/azurite-source.ts";
import { Choice } from "../transfer/choice.ts";
import type { Source } from "../transfer/item.ts";
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
  byAccount(chosen: string): readonly (readonly [account: string, open: () => Promise<Source>])[];
}

/** Finds out what the source is. Throws a `StartError`. */
export async function openImportSources(asked: TransferAsked): Promise<ImportSources> {
  const choice = new Choice(asked.only);
  const path = resolve(asked.place);
  const found = await stat(path).catch(() => null);
  if (found === null) throw new StartError(`${path} does not exist. Check the path.`);
  if (found.isDirectory() && (await isAzuriteFolder(path))) return azurite(path, asked, choice);
  throw new UsageError(`${path} is not a data folder of Azurite.`);
}

/** Each account of the folder goes into the one of the same name. */
async function azurite(
  folder: string,
  { account }: TransferAsked,
  choice: Choice,
): Promise<ImportSources> {
  const all = await azuriteAccounts(folder);
  if (account !== null && !all.includes(account)) {
    throw new UsageError(
      `${folder} has nothing of the account "${account}". It has: ${all.join(", ") || "nothing"}.`,
    );
  }
  const accounts = account === null ? all : [account];
  return {
    title: `the Azurite folder ${folder}`,
    accounts,
    byAccount: () =>
      accounts.map((name) => [name, () => AzuriteSource.open(folder, name, choice)] as const),
  };
}
