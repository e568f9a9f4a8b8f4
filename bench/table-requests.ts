import { createHmac, randomUUID } from "node:crypto";
import type { Target } from "./server.ts";
import { ACCOUNT, KEY } from "./shared-key.ts";

const TABLE = "bench";
const JSON_TYPE = "application/json";

/** An entity of about 200 bytes with properties of several types. */
function entity(row: number): Record<string, unknown> {
  return {
    PartitionKey: "partition",
    RowKey: rowKey(row),
    Name: `a name that is neither short nor long ${row}`,
    Value: row,
    Price: row + 0.5,
    "Big@odata.type": "Edm.Int64",
    Big: String(row * 1_000_003),
    Active: row % 2 === 0,
  };
}

export function createTable(target: Target): Buffer {
  return signed(target, "POST", "/Tables", JSON.stringify({ TableName: TABLE }));
}

export function insertEntity(target: Target, row: number): Buffer {
  const prefer = { Prefer: "return-no-content" };
  return signed(target, "POST", `/${TABLE}`, JSON.stringify(entity(row)), prefer);
}

export function updateEntity(target: Target, row: number): Buffer {
  return signed(target, "PUT", pathOf(row), JSON.stringify(entity(row)), { "If-Match": "*" });
}

export function getEntity(target: Target, row: number): Buffer {
  return signed(target, "GET", pathOf(row));
}

/** Puts `count` entities starting at `first`; any of them may exist already. */
export function batch(target: Target, first: number, count: number): Buffer {
  const operations = Array.from({ length: count }, (_, at) => {
    const lines = [
      "--changeset_1",
      "Content-Type: application/http",
      "Content-Transfer-Encoding: binary",
      "",
      `PUT http://127.0.0.1:${target.port}/${ACCOUNT}${pathOf(first + at)} HTTP/1.1`,
      "Content-Type: application/json",
      "Accept: application/json;odata=minimalmetadata",
      "DataServiceVersion: 3.0",
      "",
      JSON.stringify(entity(first + at)),
    ];
    return `${lines.join("\r\n")}\r\n`;
  });
  const head = "--batch_1\r\nContent-Type: multipart/mixed; boundary=changeset_1\r\n\r\n";
  const body = `${head}${operations.join("")}--changeset_1--\r\n--batch_1--\r\n`;
  return signed(target, "POST", "/$batch", body, {}, "multipart/mixed; boundary=batch_1");
}

export function query(target: Target, filter: string): Buffer {
  return signed(target, "GET", `/${TABLE}()?$filter=${encodeURIComponent(filter)}`);
}

function rowKey(row: number): string {
  return `row-${String(row).padStart(8, "0")}`;
}

function pathOf(row: number): string {
  return `/${TABLE}(PartitionKey='partition',RowKey='${rowKey(row)}')`;
}

/** Formats a signed request. The signature is valid for 15 minutes. */
export function signed(
  { port }: Pick<Target, "port">,
  method: string,
  path: string,
  body = "",
  headers: Readonly<Record<string, string>> = {},
  contentType = JSON_TYPE,
): Buffer {
  const date = new Date().toUTCString();
  const url = `/${ACCOUNT}${path}`;
  const toSign = `${date}\n/${ACCOUNT}${url.split("?")[0]}`;
  const signature = createHmac("sha256", KEY).update(toSign).digest("base64");
  const head = [
    `${method} ${url} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    "Accept: application/json;odata=minimalmetadata",
    "DataServiceVersion: 3.0",
    "User-Agent: bench",
    `x-ms-client-request-id: ${randomUUID()}`,
    `x-ms-date: ${date}`,
    "x-ms-version: 2019-02-02",
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === "" ? [] : [`Content-Type: ${contentType}`]),
    ...(method === "GET" ? [] : [`Content-Length: ${Buffer.byteLength(body)}`]),
    `Authorization: SharedKeyLite ${ACCOUNT}:${signature}`,
  ];
  return Buffer.from(`${head.join("\r\n")}\r\n\r\n${body}`);
}
