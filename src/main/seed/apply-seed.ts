import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { fairQueue } from "../../base/fair-queue.ts";
import { Fault } from "../../base/fault.ts";
import type { BlobContext } from "../../service/blob/context.ts";
import type { Fields } from "../config-fields.ts";
import type { Data } from "../open-data.ts";
import type { Progress } from "../progress-bar.ts";
import type { UsageError } from "../start-error.ts";
import { BlobSeeding } from "./blob-seeding.ts";
import { FileSeeding } from "./file-seeding.ts";
import { itemsIn, LoadRefused } from "./folder-files.ts";
import { QueueSeeding } from "./queue-seeding.ts";
import { type AccountSeed, readSeed, reasonOf, type SeedSource } from "./seed-document.ts";
import { seedService } from "./service-seeding.ts";
import { TableSeeding } from "./table-seeding.ts";

/** The settings that matter for a seed. */
export interface SeedSettings {
  /** In the order of the configuration. */
  readonly statedAccounts: readonly { readonly name: string }[];
  readonly blobSettings: BlobContext["settingsByAccount"];
}

export interface SeedProgress extends Progress {
  readonly total: Progress;
}

export interface SeedDone {
  /** Objects that were made or changed, and all that the seed names. */
  readonly changed: number;
  readonly objects: number;
}

/**
 * Makes the accounts of a server have what a seed says: makes what is missing, changes what differs,
 * and leaves alone what the seed does not name. The whole seed is checked before anything is done.
 * Yields its progress. Throws a `StartError` that names the place in the seed.
 */
export async function* applySeed(
  source: SeedSource,
  dataOf: (account: string) => Data,
  settings: SeedSettings,
): AsyncGenerator<SeedProgress, SeedDone> {
  const seeds = await readSeed(source);
  for (const seed of seeds) await requireUsable(seed, source, settings);
  const total = { objects: await objectsOf(seeds, source), bytes: 0 };
  let changed = 0;
  let objects = 0;
  for (const seed of seeds) {
    const account = seed.account ?? firstAccount(settings);
    for (const { fields, run } of stepsOf(seed, account, source, dataOf(account), settings)) {
      try {
        for await (const isChange of run()) {
          await fairQueue.next();
          objects++;
          if (isChange) changed++;
          yield { objects, bytes: 0, total };
        }
      } catch (error) {
        throw refusalOf(error, fields);
      }
    }
  }
  return { changed, objects };
}

/** An error that names the place in the seed, and the file of a folder; other errors as they are. */
function refusalOf(error: unknown, fields: Fields): unknown {
  if (error instanceof LoadRefused) {
    const { path, fault } = error;
    return fields.problem(["load"], `the service refuses ${path}: ${reasonOf(fault)}`);
  }
  if (!(error instanceof Fault)) return error;
  return fields.problem([], `the service refuses it: ${reasonOf(error)}`);
}

/** How many objects seeds name, with what is in their folders. */
async function objectsOf(seeds: readonly AccountSeed[], { folder }: SeedSource): Promise<number> {
  let objects = 0;
  for (const { services, containers, queues, tables, shares } of seeds) {
    objects += services.length + queues.length;
    for (const { entities } of tables) objects += 1 + entities.length;
    for (const { load } of containers) objects += 1 + (await loadedFrom(folder, load)).files;
    for (const { load } of shares) objects += 1 + (await loadedFrom(folder, load)).items;
  }
  return objects;
}

async function loadedFrom(folder: string, load: string | null) {
  const found = { files: 0, items: 0 };
  if (load === null) return found;
  for await (const item of itemsIn(resolve(folder, load))) {
    found.items++;
    if (item.is === "file") found.files++;
  }
  return found;
}

function firstAccount({ statedAccounts }: SeedSettings): string {
  return statedAccounts[0]?.name ?? "";
}

/** Refuses accounts that the server does not have, and folders that are not there. */
async function requireUsable(
  seed: AccountSeed,
  { folder }: SeedSource,
  { statedAccounts }: SeedSettings,
): Promise<void> {
  const names = statedAccounts.map(({ name }) => name);
  if (seed.account !== null && !names.includes(seed.account)) {
    throw seed.fields.wrong(["name"], `must be an account of this server: ${names.join(", ")}.`);
  }
  for (const { fields, load } of [...seed.containers, ...seed.shares]) {
    if (load === null) continue;
    const found = await stat(resolve(folder, load)).catch(() => null);
    if (found?.isDirectory() !== true) throw missing(fields, resolve(folder, load));
  }
}

function missing(fields: Fields, path: string): UsageError {
  return fields.problem(["load"], `${path} is not a folder that the server can read.`);
}

/** One thing of a seed. Running it yields whether each of its objects was made or changed. */
interface SeedStep {
  readonly fields: Fields;
  run(): AsyncGenerator<boolean>;
}

function* stepsOf(
  { services, containers, queues, tables, shares }: AccountSeed,
  account: string,
  { folder }: SeedSource,
  data: Data,
  { blobSettings }: SeedSettings,
): Generator<SeedStep> {
  const blobs = new BlobSeeding({ ...data, settingsByAccount: blobSettings }, account, folder);
  const messages = new QueueSeeding(data, account);
  const entities = new TableSeeding(data, account);
  const files = new FileSeeding(data, account, folder);
  for (const one of services)
    yield { fields: one.fields, run: () => seedService(data, account, one) };
  for (const one of containers) yield { fields: one.fields, run: () => blobs.seed(one) };
  for (const one of queues) yield { fields: one.fields, run: () => messages.seed(one) };
  for (const one of tables) yield { fields: one.fields, run: () => entities.seed(one) };
  for (const one of shares) yield { fields: one.fields, run: () => files.seed(one) };
}
