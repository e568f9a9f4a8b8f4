/**
 * Two writers of one log in Data Lake, and a reader that takes complete logs only.
 *
 * Each writer creates its own file below `incoming`, appends lines and flushes them: readers see
 * what is flushed, and nothing else. When a log is complete, its directory is renamed in one step,
 * so that a reader of `complete` finds all of it or nothing.
 */
import { DataLakeServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-datalake";

const ACCOUNT = "devstoreaccount1";
const KEY =
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==";
const given = /DfsEndpoint=([^;]+)/.exec(process.argv[2] ?? "")?.[1];
const url = given ?? `http://127.0.0.1:10004/${ACCOUNT}`;

const service = new DataLakeServiceClient(url, new StorageSharedKeyCredential(ACCOUNT, KEY));
const lake = service.getFileSystemClient("logs");
await lake.createIfNotExists();

async function write(name: string, lines: readonly string[]): Promise<void> {
  const file = lake.getFileClient(`incoming/${name}`);
  await file.create();
  let length = 0;
  for (const line of lines) {
    const bytes = Buffer.from(`${line}\n`);
    await file.append(bytes, length, bytes.length);
    length += bytes.length;
  }
  await file.flush(length, { close: true });
}

async function names(directory: string): Promise<string> {
  const found: string[] = [];
  try {
    for await (const { name = "" } of lake.listPaths({ path: directory })) found.push(name);
  } catch (error) {
    // The directory comes with the first complete log.
    if ((error as { statusCode?: number }).statusCode !== 404) throw error;
  }
  return found.join(", ") || "nothing";
}

await Promise.all([write("a.log", ["one", "two"]), write("b.log", ["three"])]);
console.log(`before the rename: ${await names("complete")}`);
await lake.getDirectoryClient("incoming").move("complete");
console.log(`after the rename: ${await names("complete")}`);
const text = (await lake.getFileClient("complete/a.log").readToBuffer()).toString();
console.log(`a.log: ${text.trimEnd().split("\n").join(", ")}`);
await lake.delete();
