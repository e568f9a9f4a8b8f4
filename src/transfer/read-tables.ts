import { randomUUID } from "node:crypto";
import type { TableEntity } from "./entity-groups.ts";
import type { Entity, TableItem } from "./item.ts";
import { type OnLeftOut, readOrLeaveOut } from "./left-out.ts";
import { policiesAt } from "./listed.ts";
import type { RestClient } from "./rest-client.ts";

const GET = { service: "table", method: "GET" } as const;
const HEADERS = { Accept: "application/json;odata=minimalmetadata", DataServiceVersion: "3.0" };

export async function* readTables(
  client: RestClient,
  onLeftOut: OnLeftOut,
): AsyncGenerator<TableItem> {
  for (let query: Record<string, string> = {}; ; ) {
    const answer = await client.request({ ...GET, path: "Tables", query, headers: HEADERS });
    const { value } = JSON.parse(answer.bytes.toString("utf8"));
    for (const { TableName: name } of value as { TableName: string }[]) {
      const acl = { ...GET, path: name, query: { comp: "acl" } };
      const policies = await readOrLeaveOut(`table ${name}`, onLeftOut, () =>
        policiesAt(client, acl),
      );
      if (policies !== null) yield { kind: "table", name, policies };
    }
    const next = answer.header("x-ms-continuation-nexttablename");
    if (next === undefined) return;
    query = { NextTableName: next };
  }
}

export async function* readEntities(
  client: RestClient,
  table: string,
): AsyncGenerator<TableEntity> {
  for (let query: Record<string, string> = {}; ; ) {
    const path = `${table}()`;
    const asked = { ...GET, path, isEncoded: true, query, headers: HEADERS };
    const answer = await client.request(asked);
    for (const entity of entitiesIn(answer.bytes.toString("utf8"))) yield { table, entity };
    const partition = answer.header("x-ms-continuation-nextpartitionkey");
    const row = answer.header("x-ms-continuation-nextrowkey");
    if (partition === undefined) return;
    query = { NextPartitionKey: partition, ...(row === undefined ? {} : { NextRowKey: row }) };
  }
}

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;
const TYPE = "@odata.type";

/**
 * The entities of an answer. A Double without a fraction is a number like 3.0, which `JSON.parse`
 * cannot tell from an Int32: such numbers are marked before.
 */
export function* entitiesIn(json: string): Generator<Entity> {
  const mark = `${randomUUID()}:`;
  const marked = json.replaceAll(TOKEN, (token) =>
    token[0] !== '"' && /[.eE]/.test(token) ? `"${mark}${token}"` : token,
  );
  const { value } = JSON.parse(marked) as { value: Record<string, unknown>[] };
  for (const found of value) yield entityOf(found, mark);
}

function entityOf(found: Record<string, unknown>, mark: string): Entity {
  const entity: Record<string, string | number | boolean> = {};
  for (const [name, value] of Object.entries(found)) {
    const isOwn = name.startsWith("odata.") || name === `Timestamp${TYPE}`;
    if (isOwn || value === null) continue;
    if (typeof value === "string" && value.startsWith(mark)) {
      entity[`${name}${TYPE}`] = "Edm.Double";
      entity[name] = value.slice(mark.length);
    } else {
      entity[name] = value as string | number | boolean;
    }
  }
  return entity;
}
