import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { brotliCompressSync, brotliDecompressSync } from "node:zlib";
import { type Fixture, unpackFolder } from "../upgrade/fixture.ts";

/** A data folder that a version of Azurite wrote. */
export interface AzuriteFixture extends Pick<Fixture, "files"> {
  readonly filledMs: number;
}

/** The versions whose folders are kept: an old, a middle and the newest one. */
export const AZURITE_VERSIONS = ["3.20.1", "3.28.0", "3.37.0"] as const;

export function azuriteFixturePath(version: string): string {
  return `test/import/azurite-${version}.json.br`;
}

function readAzuriteFixture(path: string): AzuriteFixture {
  return JSON.parse(brotliDecompressSync(readFileSync(path)).toString("utf8"));
}

export function writeAzuriteFixture(path: string, fixture: AzuriteFixture): void {
  writeFileSync(path, brotliCompressSync(JSON.stringify(fixture)));
}

/** Longer than filling a folder took, so that its messages were visible before it is read. */
const FILLED_BEFORE_MS = 3_600_000;

/** A folder of Azurite as if it had been filled an hour ago: the times of its messages are moved. */
export function unpackAzuriteFixture(version: string, folder: string): string {
  const { filledMs, files } = readAzuriteFixture(azuriteFixturePath(version));
  const byMs = Date.now() - FILLED_BEFORE_MS - filledMs;
  unpackFolder({ ...files, [QUEUES]: redated(files[QUEUES] ?? "", byMs) }, folder);
  return folder;
}

const QUEUES = "__azurite_db_queue__.json";
const BLOBS = "__azurite_db_blob__.json";
const TABLES = "__azurite_db_table__.json";
const FIRST_ACCOUNT = "devstoreaccount1";

type Document = Record<string, unknown>;
type Database = { collections: { name: string; data: Document[] }[] };

/** Gives a folder of Azurite a second account with the same objects, which share their bytes. */
export function addAzuriteAccount(folder: string, name: string): void {
  for (const file of [BLOBS, QUEUES, TABLES]) {
    changeDatabase(join(folder, file), ({ collections }) => {
      for (const collection of [...collections]) {
        const data = collection.data.map((document) => ownedBy(document, name));
        // A collection of entities has the name of its account.
        const own = collection.name.replace(`${FIRST_ACCOUNT}$`, `${name}$`);
        if (own === collection.name) collection.data.push(...data.filter((one) => one !== null));
        else collections.push({ ...collection, name: own });
      }
    });
  }
}

/** A copy for another account; null for what belongs to none. */
function ownedBy(document: Document, name: string): Document | null {
  if (document.accountName !== undefined) return { ...document, accountName: name };
  return document.account === undefined ? null : { ...document, account: name };
}

/** Lets a blob of the first account have its bytes in a file that is missing. */
export function loseAzuriteBytes(folder: string, blob: string): void {
  changeDatabase(join(folder, BLOBS), ({ collections }) => {
    for (const document of collections.flatMap(({ data }) => data)) {
      if (document.accountName !== FIRST_ACCOUNT || document.name !== blob) continue;
      document.persistency = { ...(document.persistency as object), id: "lost" };
    }
  });
}

/** The documents of a collection of the blob or queue database. */
export function azuriteDocuments(folder: string, database: "blob" | "queue", name: string) {
  const path = join(folder, database === "blob" ? BLOBS : QUEUES);
  const { collections } = JSON.parse(readFileSync(path, "utf8")) as Database;
  return collections.find((collection) => collection.name === name)?.data ?? [];
}

function changeDatabase(path: string, change: (database: Database) => void): void {
  const database = JSON.parse(readFileSync(path, "utf8"));
  change(database);
  writeFileSync(path, JSON.stringify(database));
}

function redated(base64: string, byMs: number): string {
  const database = JSON.parse(Buffer.from(base64, "base64").toString("utf8"));
  for (const { name, data } of database.collections) {
    if (name !== "$MESSAGES_COLLECTION$") continue;
    for (const message of data) {
      for (const field of ["insertionTime", "expirationTime"]) {
        if (message[field].startsWith("9999")) continue;
        message[field] = new Date(Date.parse(message[field]) + byMs).toISOString();
      }
      const visible = message.timeNextVisible;
      message.timeNextVisible =
        typeof visible === "number"
          ? visible + byMs
          : new Date(Date.parse(visible) + byMs).toISOString();
    }
  }
  return Buffer.from(JSON.stringify(database)).toString("base64");
}
