import assert from "node:assert/strict";
import { test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { assertAccessible, skipWithoutBrowser } from "./browser.ts";
import { browserOfFile, startedConsole } from "./opened-console.ts";
import { ARROW_PARQUET } from "./parquet-files.ts";

const skip = skipWithoutBrowser() ?? false;
const openPage = browserOfFile();

/** A footer with columns of long names, as a file of Parquet ends: Thrift's compact protocol. */
function wideFile(columns: number): Buffer {
  const text = (value: string) =>
    Buffer.from([(value.length & 0x7f) | 0x80, value.length >> 7, ...Buffer.from(value)]);
  const root = Buffer.concat([
    Buffer.from([0x48]),
    text("s".repeat(200)),
    Buffer.from([0x15, ...zigzag(columns), 0]),
  ]);
  const fields = Array.from({ length: columns }, (_, at) =>
    Buffer.concat([
      Buffer.from([0x15, 2, 0x38]),
      text(`column-${at}-`.padEnd(200, "x")),
      Buffer.from([0]),
    ]),
  );
  const count = columns + 1;
  const list = Buffer.from([0x29, 0xfc, (count & 0x7f) | 0x80, count >> 7]);
  const footer = Buffer.concat([list, root, ...fields, Buffer.from([0x16, 10, 0])]);
  const length = Buffer.alloc(4);
  length.writeUInt32LE(footer.length);
  return Buffer.concat([Buffer.alloc(5_000, 7), footer, length, Buffer.from("PAR1")]);
}

function zigzag(value: number): number[] {
  const twice = 2 * value;
  return [(twice & 0x7f) | 0x80, twice >> 7];
}

test("a Parquet file shows its columns, of which only the end is read", { skip }, async (t) => {
  const server = await startedConsole(t);
  const service = BlobServiceClient.fromConnectionString(server.connectionString);
  const container = service.getContainerClient("data");
  await container.create();
  const files = {
    "cities.parquet": Buffer.concat([Buffer.from("PAR1"), Buffer.alloc(200_000), ARROW_PARQUET]),
    "wide.parquet": wideFile(600),
    "text.parquet": Buffer.from("a,b\n1,2\n"),
  };
  for (const [name, bytes] of Object.entries(files)) {
    await container.getBlockBlobClient(name).uploadData(bytes);
  }
  const { page, errors } = await openPage(t, server.consoleUrl);
  const ranges: string[] = [];
  page.on("request", (request) => {
    const { range } = request.headers();
    if (range !== undefined) ranges.push(range);
  });
  await page.getByRole("link", { name: "Browse" }).click();
  await page.getByRole("button", { name: "data", exact: true }).click();
  await page.getByRole("button", { name: "cities.parquet" }).click();
  const preview = page.getByRole("region", { name: "Preview" });
  await preview.getByText("2 rows, written by parquet-rs").waitFor();
  const row = preview.getByRole("row").filter({ hasText: "item" });
  await row.getByText("BYTE_ARRAY (STRING)").waitFor();
  for (const scheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    await assertAccessible(page);
  }
  const { length } = files["cities.parquet"];
  assert.deepEqual(ranges.splice(0), [`bytes=${length - 65_536}-${length - 1}`]);
  await page.getByRole("button", { name: "wide.parquet" }).click();
  await preview.getByText("The first 500 of 600 columns.").waitFor();
  await preview.getByText(/^column-499-/).waitFor();
  assert.equal(ranges.length, 2);
  await page.getByRole("button", { name: "text.parquet" }).click();
  await page.getByText("This is no Parquet file").waitFor();
  assert.deepEqual(errors, []);
});
