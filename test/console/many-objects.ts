import assert from "node:assert/strict";
import { once } from "node:events";
import { connect } from "node:net";
import { ACCOUNT } from "../sdk/server.ts";
import { wholeSas } from "./opened-console.ts";

/** Requests that are sent before their answers are read. */
const PIPELINED = 500;
const BATCH = 100;

/** Puts blobs of one byte, as fast as a server takes them: requests are sent as prepared text. */
export async function putBlobs(url: string, container: string, names: readonly string[]) {
  const sas = wholeSas();
  const { host } = new URL(url);
  const common = `?${sas} HTTP/1.1\r\nHost: ${host}\r\nx-ms-version: 2025-01-05\r\n`;
  const rest = `${common}x-ms-blob-type: BlockBlob\r\nContent-Length: 1\r\n\r\n.`;
  await pipelined(
    url,
    names.map((name) => `PUT /${ACCOUNT}/${container}/${name}${rest}`),
    201,
  );
}

/** Inserts entities into one partition, in batches. */
export async function insertEntities(url: string, table: string, rows: readonly object[]) {
  const { host } = new URL(url);
  const requests: string[] = [];
  for (let from = 0; from < rows.length; from += BATCH) {
    const parts = rows.slice(from, from + BATCH).map((row, at) => {
      const head = `--c\r\nContent-Type: application/http\r\nContent-Transfer-Encoding: binary\r\n\r\n`;
      const line = `POST http://${host}/${ACCOUNT}/${table} HTTP/1.1\r\nContent-ID: ${at}\r\n`;
      const types = "Content-Type: application/json\r\nPrefer: return-no-content\r\n";
      return `${head}${line}${types}\r\n${JSON.stringify(row)}\r\n`;
    });
    const changes = `--b\r\nContent-Type: multipart/mixed; boundary=c\r\n\r\n${parts.join("")}--c--\r\n`;
    const body = `${changes}--b--\r\n`;
    requests.push(
      `POST /${ACCOUNT}/$batch?${wholeSas()} HTTP/1.1\r\nHost: ${host}\r\n` +
        "x-ms-version: 2025-01-05\r\nContent-Type: multipart/mixed; boundary=b\r\n" +
        `Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
  }
  await pipelined(url, requests, 202);
}

/** Sends requests over one connection, and counts the answers of this status. */
async function pipelined(url: string, requests: readonly string[], status: number) {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname);
  await once(socket, "connect");
  let answered = 0;
  let rest = "";
  let failure: string | null = null;
  let wake = () => {};
  socket.setEncoding("latin1").on("data", (text: string) => {
    // An answer's first line may come in two pieces.
    const lines = (rest + text).split("\r\n");
    rest = lines.pop() ?? "";
    for (const line of lines) {
      if (!line.startsWith("HTTP/1.1 ") || line.startsWith("HTTP/1.1 204")) continue;
      answered++;
      if (!line.startsWith(`HTTP/1.1 ${status}`)) failure ??= line;
    }
    wake();
  });
  socket.on("close", () => wake());
  for (let from = 0; from < requests.length; from += PIPELINED) {
    const some = requests.slice(from, from + PIPELINED);
    socket.write(some.join(""));
    while (answered < from + some.length && failure === null && !socket.destroyed) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
    }
    assert.equal(failure, null);
    assert.equal(answered, from + some.length, "the server closed the connection");
  }
  socket.destroy();
}
