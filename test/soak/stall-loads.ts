import { BlobServiceClient } from "@azure/storage-blob";
import { type Request, signed } from "../../bench/shared-key.ts";
import { signed as signedForTables } from "../../bench/table-requests.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import type { StalledServer } from "./stalled-server.ts";

/** One kind of long request. */
export interface Load {
  readonly name: string;
  prepare?(server: StalledServer): Promise<void>;
  /** Sends some of these requests, from this many clients at once. */
  run(server: StalledServer, clients: number): Promise<void>;
}

const MIB = 1024 * 1024;
/** Connections that upload the data. */
const WRITERS = 16;
const ENTITIES = 60_000;
const LARGE_ENTITIES = 500;
const BLOBS = 5_000;
const BLOCKS = 50_000;
const NAMED_THINGS = 1_000;
const PAGES = 10_000;
const XML_BYTES = 3 * MIB;
/** Longest continuation marker at the end of a list. */
const MARKER_CHARS_MAX = 4_096;

/** 8 KiB in very many entries, which cost more than a few long ones. */
const LARGE_METADATA = Object.fromEntries(
  Array.from({ length: 900 }, (_, at) => [`x-ms-meta-m${String(at).padStart(3, "0")}`, "v<w&x"]),
);

export const LOADS: readonly Load[] = [
  {
    name: "query, 250 comparisons of one property, 60,000 entities",
    prepare: makeEntities,
    run: queries(
      "entities",
      anyOf(250, (at) => `Value eq ${-1 - at}.5`),
    ),
  },
  {
    name: "query, 250 comparisons of texts, 60,000 entities",
    run: queries(
      "entities",
      anyOf(250, (at) => `Name ge 'z${at}'`),
    ),
  },
  {
    name: "query, 250 negations, 60,000 entities",
    run: queries("entities", `${allOf(250, (at) => `not (Name ge 'z${at}')`)} and Name eq 'x'`),
  },
  {
    name: "query, 250 properties, 60,000 entities",
    run: queries(
      "entities",
      anyOf(250, (at) => `P${at} eq 1`),
    ),
  },
  {
    name: "query that matches nothing, 60,000 entities",
    run: queries("entities", "Name eq 'x'"),
  },
  {
    name: "query, 250 properties, 500 entities of 100 KiB",
    prepare: makeLargeEntities,
    run: queries(
      "large",
      anyOf(250, (at) => `Q${at} eq 1`),
    ),
  },
  {
    name: "query of all, 500 entities of 100 KiB",
    run: queries("large", "Name ne 'x'"),
  },
  {
    name: "query of all with full metadata, 500 entities of 100 KiB",
    run: queries("large", "Name ne 'x'", "application/json;odata=fullmetadata"),
  },
  { name: "entity group transactions of 4 MiB", run: writeGroups },
  {
    name: "entity group transactions that merge into 7.5 MiB",
    prepare: makeMergedEntities,
    run: mergeGroups,
  },
  { name: "entity of hostile JSON", run: hostileJson },
  {
    name: "list of 5,000 blobs with 8 KiB of metadata",
    prepare: makeBlobs,
    run: lists("blob", "/blobs", { restype: "container", comp: "list", include: "metadata" }),
  },
  {
    name: "find blobs by tags",
    run: lists("blob", "/", { comp: "blobs", where: `"tag" >= 'a' AND "tag" <= 'b'` }),
  },
  {
    name: "commit of 50,000 blocks",
    prepare: makeBlocks,
    run: commitBlocks,
  },
  {
    name: "list of 50,000 blocks",
    run: lists("blob", "/blocks/blob", { comp: "blocklist", blocklisttype: "all" }),
  },
  ...Object.entries(hostileXml()).map(([name, body]) => ({
    name: `XML of 3 MiB, ${name}`,
    run: (server: StalledServer, clients: number) => {
      const { blob: port } = server.ports;
      const request = { method: "PUT", path: "/blobs/xml", query: { comp: "blocklist" }, body };
      const bytes = signed(port, request as Request);
      return server.sendAll(port, Array(2 * clients).fill(bytes), clients, true);
    },
  })),
  {
    name: "list of 1,000 containers with 8 KiB of metadata",
    prepare: (server) => makeNamed(server, "blob", "container"),
    run: lists("blob", "/", { comp: "list", include: "metadata" }),
  },
  {
    name: "list of 1,000 queues with 8 KiB of metadata",
    prepare: (server) => makeNamed(server, "queue", null),
    run: lists("queue", "/", { comp: "list", include: "metadata" }),
  },
  {
    name: "list of 1,000 shares with 8 KiB of metadata",
    prepare: (server) => makeNamed(server, "file", "share"),
    run: lists("file", "/", { comp: "list", include: "metadata" }),
  },
  {
    name: "list of 1,000 files with 8 KiB of metadata",
    prepare: makeFiles,
    run: lists("file", "/named-0", {
      restype: "directory",
      comp: "list",
      include: "Timestamps,Etag",
    }),
  },
  {
    name: "page ranges of a blob in 10,000 pieces",
    prepare: makePages,
    run: lists("blob", "/blobs/pages", { comp: "pagelist" }),
  },
  { name: "batch of 256 blobs", run: batches },
  {
    name: "sweep of 50,000 blocks and 5,000 blobs",
    prepare: async (server) => {
      await makeBlobs(server);
      await makeBlocks(server);
    },
    run: sweep,
  },
];

function anyOf(count: number, term: (at: number) => string): string {
  return Array.from({ length: count }, (_, at) => term(at)).join(" or ");
}

function allOf(count: number, term: (at: number) => string): string {
  return Array.from({ length: count - 1 }, (_, at) => term(at)).join(" and ");
}

function queries(table: string, filter: string, accept?: string): Load["run"] {
  return (server, clients) => {
    const port = server.ports.table;
    const path = `/${table}()?$filter=${encodeURIComponent(filter)}`;
    const headers = accept === undefined ? {} : { Accept: accept };
    const request = signedForTables({ port }, "GET", path, "", headers);
    return server.sendAll(port, Array(clients).fill(request), clients);
  };
}

/** Each client lists everything, page by page. */
function lists(
  service: "blob" | "queue" | "file",
  path: string,
  query: Readonly<Record<string, string>>,
): Load["run"] {
  return async (server, clients) => {
    const port = server.ports[service];
    const listAll = async () => {
      for (let marker: string | undefined = ""; marker !== undefined; ) {
        const page: Record<string, string> = marker === "" ? query : { ...query, marker };
        const { status, text } = await server.send(port, { method: "GET", path, query: page });
        if (status !== 200) throw new Error(`${status} for ${path}: ${text.slice(0, 500)}`);
        marker = /<NextMarker>([^<]+)</.exec(text.slice(-MARKER_CHARS_MAX))?.[1];
      }
    };
    await Promise.all(Array.from({ length: clients }, listAll));
  };
}

async function createTable(server: StalledServer, name: string): Promise<void> {
  const port = server.ports.table;
  const request = signedForTables({ port }, "POST", "/Tables", `{"TableName":"${name}"}`);
  await server.sendAll(port, [request], 1);
}

/** Inserts entities of one partition, in a transaction. */
function groupOf(port: number, table: string, entities: readonly object[]): Buffer {
  return transactionOf(
    port,
    entities.map((entity) => ["POST", table, entity]),
  );
}

type Operation = readonly [method: string, resource: string, entity: object];

function transactionOf(port: number, all: readonly Operation[]): Buffer {
  const operations = all.map(([method, resource, entity]) =>
    [
      "--changeset_1",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary",
      "",
      `${method} http://127.0.0.1:${port}/devstoreaccount1/${resource} HTTP/1.1`,
      "Content-Type: application/json",
      "Prefer: return-no-content",
      "",
      JSON.stringify(entity),
      "",
    ].join("\r\n"),
  );
  const head = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n";
  const body = `${head}${operations.join("")}--changeset_1--\r\n--batch_1--\r\n`;
  const type = "multipart/mixed; boundary=batch_1";
  return signedForTables({ port }, "POST", "/$batch", body, {}, type);
}

async function makeEntities(server: StalledServer): Promise<void> {
  await createTable(server, "entities");
  const port = server.ports.table;
  function* groups() {
    for (let first = 0; first < ENTITIES; first += 100) {
      const entities = Array.from({ length: 100 }, (_, at) => ({
        PartitionKey: "partition",
        RowKey: `row-${String(first + at).padStart(8, "0")}`,
        Name: `a name that is neither short nor long ${first + at}`,
        Value: first + at,
        Price: first + at + 0.5,
      }));
      yield groupOf(port, "entities", entities);
    }
  }
  await server.sendAll(port, groups(), WRITERS);
}

/** An entity of 50 properties. */
function largeEntity(row: number, bytes: number): Record<string, unknown> {
  const entity: Record<string, unknown> = { PartitionKey: "partition", RowKey: `row-${row}` };
  for (let at = 0; at < 50; at++) entity[`Name${at}`] = `,"${"x".repeat(bytes / 50)}"`;
  return entity;
}

async function makeLargeEntities(server: StalledServer): Promise<void> {
  await createTable(server, "large");
  const port = server.ports.table;
  function* groups() {
    for (let first = 0; first < LARGE_ENTITIES; first += 10) {
      const entities = Array.from({ length: 10 }, (_, at) => largeEntity(first + at, 100_000));
      yield groupOf(port, "large", entities);
    }
  }
  await server.sendAll(port, groups(), WRITERS);
}

let written = 0;

async function writeGroups(server: StalledServer, clients: number): Promise<void> {
  if (written === 0) await createTable(server, "groups");
  const port = server.ports.table;
  function* groups() {
    for (let group = 0; group < 2 * clients; group++) {
      const entities = Array.from({ length: 100 }, () => largeEntity(written++, 38_000));
      yield groupOf(port, "groups", entities);
    }
  }
  await server.sendAll(port, groups(), clients);
}

/** An entity has up to 1 MiB in UTF-16, so these have half as many bytes. */
const MERGED_ENTITY_BYTES = 500_000;
const MERGED_ENTITIES = 15;
/** Enough for the largest number of clients, each of which merges into entities of its own. */
const MERGED_PARTITIONS = 4;

async function makeMergedEntities(server: StalledServer): Promise<void> {
  await createTable(server, "merged");
  const port = server.ports.table;
  function* groups() {
    for (let at = 0; at < MERGED_PARTITIONS * MERGED_ENTITIES; at++) {
      const entity = largeEntity(at, MERGED_ENTITY_BYTES);
      const PartitionKey = `partition-${at % MERGED_PARTITIONS}`;
      yield groupOf(port, "merged", [{ ...entity, PartitionKey }]);
    }
  }
  await server.sendAll(port, groups(), WRITERS);
}

async function mergeGroups(server: StalledServer, clients: number): Promise<void> {
  const port = server.ports.table;
  const groups = Array.from({ length: clients }, (_, client) => {
    const partition = client % MERGED_PARTITIONS;
    const merges = Array.from({ length: MERGED_ENTITIES }, (_, at): Operation => {
      const row = at * MERGED_PARTITIONS + partition;
      const keys = `PartitionKey='partition-${partition}',RowKey='row-${row}'`;
      return ["MERGE", `merged(${keys})`, { Count: 1 }];
    });
    return transactionOf(port, merges);
  });
  await server.sendAll(port, groups, clients);
}

async function hostileJson(server: StalledServer, clients: number): Promise<void> {
  const port = server.ports.table;
  const start = '{"PartitionKey":"p","RowKey":"r"';
  const bodies = [
    `${start}${',"a":1'.repeat(600_000)}}`,
    `${start},"a":"${"\\u0041".repeat(600_000)}"}`,
    `${start},"a":${"[".repeat(3_900_000)}`,
    `${start},"a":"${"é".repeat(1_900_000)}`,
    `${start},"a":1${" ".repeat(3_900_000)}`,
  ];
  const requests = bodies.map((body) => signedForTables({ port }, "POST", "/entities", body));
  await server.sendAll(port, requests, clients, true);
}

async function makeBlobs(server: StalledServer): Promise<void> {
  const port = server.ports.blob;
  await server.send(port, { method: "PUT", path: "/blobs", query: { restype: "container" } });
  const headers = { ...LARGE_METADATA, "x-ms-blob-type": "BlockBlob", "x-ms-tags": "tag=a" };
  function* blobs() {
    for (let at = 0; at < BLOBS; at++) {
      yield signed(port, { method: "PUT", path: `/blobs/${at}`, headers, body: Buffer.from("b") });
    }
  }
  await server.sendAll(port, blobs(), WRITERS);
}

function blockId(at: number): string {
  return Buffer.from(String(at).padStart(40, "0")).toString("base64");
}

async function makeBlocks(server: StalledServer): Promise<void> {
  const port = server.ports.blob;
  await server.send(port, { method: "PUT", path: "/blocks", query: { restype: "container" } });
  await stageBlocks(server);
}

async function stageBlocks(server: StalledServer): Promise<void> {
  const port = server.ports.blob;
  function* blocks() {
    for (let at = 0; at < BLOCKS; at++) {
      const query = { comp: "block", blockid: blockId(at) };
      const body = Buffer.from("b");
      yield signed(port, { method: "PUT", path: "/blocks/blob", query, body });
    }
  }
  await server.sendAll(port, blocks(), WRITERS);
}

async function commitBlocks(server: StalledServer): Promise<void> {
  const port = server.ports.blob;
  const ids = Array.from({ length: BLOCKS }, (_, at) => `<Latest>${blockId(at)}</Latest>`);
  const body = Buffer.from(`<?xml version="1.0"?><BlockList>${ids.join("\n")}</BlockList>`);
  const query = { comp: "blocklist" };
  await server.sendAll(
    port,
    [signed(port, { method: "PUT", path: "/blocks/blob", query, body })],
    1,
  );
}

function hostileXml(): Record<string, Buffer> {
  const document = (content: string) =>
    Buffer.from(`<BlockList>${content.repeat(Math.floor(XML_BYTES / content.length))}</BlockList>`);
  const attributes = Array.from({ length: 30 }, (_, at) => ` a${at}="&amp;"`).join("");
  return {
    "carriage returns": document("\r"),
    "references to characters": document(`&#x41;${"x".repeat(30)}`),
    comments: document(`<!--${"x".repeat(30)}-->`),
    "elements with many attributes": document(`<Latest${attributes}>YQ==</Latest>`),
    "names of many bytes": document(`<n${"ä".repeat(500)} />`),
    "an error in the last line": document("\n"),
  };
}

async function makeNamed(
  server: StalledServer,
  service: "blob" | "queue" | "file",
  restype: string | null,
): Promise<void> {
  const port = server.ports[service];
  const query: Record<string, string> = restype === null ? {} : { restype };
  function* requests() {
    for (let at = 0; at < NAMED_THINGS; at++) {
      yield signed(port, { method: "PUT", path: `/named-${at}`, query, headers: LARGE_METADATA });
    }
  }
  await server.sendAll(port, requests(), WRITERS);
}

async function makeFiles(server: StalledServer): Promise<void> {
  const port = server.ports.file;
  // It may exist already, from the load of shares.
  const query = { restype: "share" };
  await server.send(port, { method: "PUT", path: "/named-0", query, headers: LARGE_METADATA });
  const own = { "x-ms-type": "file", "x-ms-content-length": "1" };
  const headers = { ...LARGE_METADATA, ...own };
  function* requests() {
    for (let at = 0; at < NAMED_THINGS; at++) {
      yield signed(port, { method: "PUT", path: `/named-0/file-${at}`, headers });
    }
  }
  await server.sendAll(port, requests(), WRITERS);
}

async function makePages(server: StalledServer): Promise<void> {
  const port = server.ports.blob;
  const length = { "x-ms-blob-content-length": String(PAGES * 1_024) };
  const headers = { "x-ms-blob-type": "PageBlob", ...length };
  await server.send(port, { method: "PUT", path: "/blobs/pages", headers });
  const body = Buffer.alloc(512, 1);
  function* requests() {
    for (let at = 0; at < PAGES; at++) {
      const range = `bytes=${at * 1_024}-${at * 1_024 + 511}`;
      const own = { "x-ms-page-write": "update", "x-ms-range": range };
      const query = { comp: "page" };
      yield signed(port, { method: "PUT", path: "/blobs/pages", query, headers: own, body });
    }
  }
  await server.sendAll(port, requests(), WRITERS);
}

async function batches(server: StalledServer): Promise<void> {
  const url = `http://127.0.0.1:${server.ports.blob}/devstoreaccount1`;
  const client = new BlobServiceClient(url, CREDENTIAL);
  const urls = Array.from({ length: 256 }, (_, at) => `${url}/blobs/${at}`);
  await client.getBlobBatchClient().setBlobsAccessTier(urls, CREDENTIAL, "Cool");
}

/** The server sweeps every 10 s. */
const SWEPT_MS = 15_000;

/** Deletes data, and waits while the server sweeps it in the background. */
async function sweep(server: StalledServer): Promise<void> {
  const port = server.ports.blob;
  for (const path of ["/blocks/blob", "/blobs/0"]) {
    await server.sendAll(port, [signed(port, { method: "DELETE", path })], 1, true);
  }
  await server.sendAll(
    port,
    [signed(port, { method: "DELETE", path: "/blobs", query: { restype: "container" } })],
    1,
    true,
  );
  await new Promise((resolve) => setTimeout(resolve, SWEPT_MS)); // tidy-allow sleep: nothing tells when the server has swept
}
