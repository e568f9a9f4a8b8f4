import { randomUUID } from "node:crypto";
import type { Target } from "./existing.ts";
import type { Entity } from "./item.ts";
import { pastHeaders } from "./past.ts";
import type { Headers, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

/** The most entities and bytes of an entity group transaction, with room for its own lines. */
const BATCH_MAX = 100;
const BATCH_BYTES_MAX = 3 * 1024 * 1024;

/** Writes entities of one partition, in as few transactions as possible. */
export async function putEntities(
  client: RestClient,
  table: string,
  entities: readonly Entity[],
  { isNew, existing }: Target,
): Promise<void> {
  const isSkipping = !isNew && existing !== "overwrite";
  const isOurs = await client.isOurs("table");
  let batch: string[] = [];
  let bytes = 0;
  for (const entity of entities) {
    const written = writtenOf(entity, isOurs);
    const operation = operationOf(table, written, isSkipping, client);
    const more = Buffer.byteLength(operation);
    if (batch.length === BATCH_MAX || bytes + more > BATCH_BYTES_MAX) {
      await send(client, batch);
      batch = [];
      bytes = 0;
    }
    if (isSkipping) await insert(client, table, written);
    else batch.push(operation);
    bytes += more;
  }
  if (batch.length > 0) await send(client, batch);
}

interface Written {
  readonly entity: Entity;
  readonly past: Headers;
}

/** ETags are made from the Timestamp, which only a server of ours takes. */
function writtenOf({ Timestamp: modified, ...entity }: Entity, isOurs: boolean): Written {
  return { entity, past: isOurs && modified !== undefined ? pastHeaders({ modified }) : {} };
}

/** An insert or a replace, as a part of a batch. */
function operationOf(
  table: string,
  { entity, past }: Written,
  isSkipping: boolean,
  client: RestClient,
): string {
  if (isSkipping) return "";
  const url = `${client.address.urls.table}/${table}(${keysOf(entity)})`;
  const own = Object.entries(past).map(([name, value]) => `${name}: ${value}\r\n`);
  return (
    `PUT ${url} HTTP/1.1\r\nContent-Type: application/json\r\n${own.join("")}` +
    `Accept: application/json;odata=nometadata\r\n\r\n${JSON.stringify(entity)}\r\n`
  );
}

/** One by one, because an entity that is there already refuses a whole batch. */
async function insert(client: RestClient, table: string, { entity, past }: Written): Promise<void> {
  await client.request({
    service: "table",
    method: "POST",
    path: table,
    headers: { ...JSON_HEADERS, Prefer: "return-no-content", ...past },
    body: Buffer.from(JSON.stringify(entity)),
    expects: ["EntityAlreadyExists"],
  });
}

const JSON_HEADERS = {
  "Content-Type": "application/json",
  Accept: "application/json;odata=nometadata",
  DataServiceVersion: "3.0",
};

function keysOf({ PartitionKey, RowKey }: Entity): string {
  const quoted = (key: unknown) => encodeURIComponent(`${key}`.replaceAll("'", "''"));
  return `PartitionKey='${quoted(PartitionKey)}',RowKey='${quoted(RowKey)}'`;
}

async function send(client: RestClient, operations: readonly string[]): Promise<void> {
  const [batch, changes] = [`batch_${randomUUID()}`, `changeset_${randomUUID()}`];
  const parts = operations.map(
    (operation) =>
      `--${changes}\r\nContent-Type: application/http\r\n` +
      `Content-Transfer-Encoding: binary\r\n\r\n${operation}`,
  );
  const body =
    `--${batch}\r\nContent-Type: multipart/mixed; boundary=${changes}\r\n\r\n` +
    `${parts.join("")}--${changes}--\r\n--${batch}--\r\n`;
  const answer = await client.request({
    service: "table",
    method: "POST",
    path: "$batch",
    isEncoded: true,
    headers: {
      "Content-Type": `multipart/mixed; boundary=${batch}`,
      DataServiceVersion: "3.0",
      Accept: "application/json",
    },
    body: Buffer.from(body),
  });
  const text = answer.bytes.toString("utf8");
  const [, status] = /HTTP\/1\.1 (\d+)/.exec(text) ?? [];
  if (status !== undefined && Number(status) < 300) return;
  const code = /"code":"([^"]*)"/.exec(text)?.[1] ?? status ?? "no answer";
  throw new TransferError(`The entities of a batch were refused: ${code}.`);
}
