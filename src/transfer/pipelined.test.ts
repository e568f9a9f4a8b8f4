import assert from "node:assert/strict";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { readPipeline, renderPipeline } from "./pipelined.ts";
import { type Asked, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

const OK = "HTTP/1.1 201 Created\r\nContent-Length: 0\r\n\r\n";
const GOT = 'HTTP/1.1 200 OK\r\nETag: "0x1"\r\nContent-Length: 3\r\n\r\nabc';
const BUSY = "HTTP/1.1 503 Busy\r\nContent-Length: 0\r\n\r\n";
const GONE = "HTTP/1.1 404 Not\r\nx-ms-error-code: BlobNotFound\r\nContent-Length: 0\r\n\r\n";

test("a pipeline is its requests, one behind the other, byte by byte", () => {
  const request = (target: string, body: Bytes) => {
    return { method: "PUT", target, headers: { "x-ms-meta-a": "ä" }, body };
  };
  const bytes = renderPipeline(
    [request("/a/b?c=d", Buffer.from("\r\n\r\n")), request("/e", Buffer.from([0, 255]))],
    "host:1",
  );
  const head = (target: string, length: number) =>
    `PUT ${target} HTTP/1.1\r\nHost: host:1\r\nx-ms-meta-a: ä\r\nContent-Length: ${length}\r\n\r\n`;
  const expected = `${head("/a/b?c=d", 4)}\r\n\r\n${head("/e", 2)}\0\xff`;
  assert.equal(bytes.toString("latin1"), expected);
});

test("a header that would end its line, or has no byte, is not sent", () => {
  for (const value of ["a\r\nb: c", "\n", "\0", "€"]) {
    const one = { method: "GET", target: "/", headers: { "x-ms-meta-a": value }, body: EMPTY };
    assert.throws(() => renderPipeline([one], "host"), /x-ms-meta-a/);
  }
});

const EMPTY = Buffer.alloc(0);

test("answers are read if they are whole and as many as were asked for", () => {
  const answers = readPipeline(Buffer.from(OK + GOT), 2);
  assert.deepEqual(
    answers.map((one) => [one.status, one.header("etag"), one.bytes.toString()]),
    [
      [201, undefined, ""],
      [200, '"0x1"', "abc"],
    ],
  );
  const bad = [OK, OK + GOT.slice(0, -1), OK + GOT + OK, `${OK}noise\r\n\r\n`, "", `${OK}\r\n\r\n`];
  for (const text of bad) assert.throws(() => readPipeline(Buffer.from(text), 2), Error, text);
});

/** A server that answers pipelines with this, and other requests with 201. */
async function withServer(
  pipeline: { readonly status: number; readonly text: string },
  body: (client: RestClient, seen: string[]) => Promise<void>,
): Promise<void> {
  const seen: string[] = [];
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    const isPipeline = request.method === "POST";
    request.resume().on("end", () => {
      seen.push(isPipeline ? "pipeline" : `${request.method} ${request.url}`);
      response.writeHead(isPipeline ? pipeline.status : 201);
      response.end(isPipeline ? pipeline.text : "");
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  const urls = { blob: `http://127.0.0.1:${port}/acc` };
  const client = new RestClient({ name: "acc", urls, credentials: { key: "a2V5" } }, 4);
  try {
    await body(client, seen);
  } finally {
    client.close();
    server.close();
  }
}

const asked = (name: string): Asked => {
  return { service: "blob", method: "PUT", path: `box/${name}`, body: Buffer.from(name) };
};

const statuses = async (client: RestClient, ...names: string[]) =>
  (await client.together("box", names.map(asked))).map((one) =>
    one instanceof TransferError ? one.message : one.status,
  );

test("a server that takes pipelines gets one request, and each part has its own outcome", async () => {
  await withServer({ status: 200, text: OK + GONE + GOT }, async (client, seen) => {
    const [first, second, third] = await statuses(client, "a", "b", "c");
    assert.deepEqual([first, third], [201, 200]);
    assert.match(`${second}`, /PUT blob box\/b failed with 404 BlobNotFound/);
    assert.deepEqual(seen, ["pipeline"]);
  });
});

test("a part that failed for a moment is sent again by itself", async () => {
  await withServer({ status: 200, text: OK + BUSY }, async (client, seen) => {
    assert.deepEqual(await statuses(client, "a", "b"), [201, 201]);
    assert.deepEqual(seen, ["pipeline", "PUT /acc/box/b"]);
  });
});

test("a server that knows no pipelines gets each request by itself, and is not asked again", async () => {
  await withServer({ status: 400, text: "" }, async (client, seen) => {
    assert.deepEqual(await statuses(client, "a", "b"), [201, 201]);
    assert.deepEqual(await statuses(client, "c"), [201]);
    const alone = ["PUT /acc/box/a", "PUT /acc/box/b", "PUT /acc/box/c"];
    assert.deepEqual(seen.toSorted(), [...alone, "pipeline"]);
  });
});

test("an answer that is not one of a pipeline counts for nothing", async () => {
  for (const [status, text] of [
    [200, OK],
    [200, "<html>"],
    [503, ""],
  ] as const) {
    await withServer({ status, text }, async (client, seen) => {
      assert.deepEqual(await statuses(client, "a", "b"), [201, 201]);
      assert.deepEqual(seen.toSorted(), ["PUT /acc/box/a", "PUT /acc/box/b", "pipeline"]);
    });
  }
});

test("a body that cannot be read fails alone", async () => {
  await withServer({ status: 200, text: OK }, async (client, seen) => {
    const broken = {
      bytes: 3,
      read(): AsyncGenerator<Bytes> {
        throw new TransferError("gone");
      },
    };
    const found = await client.together("box", [{ ...asked("a"), body: broken }, asked("b")]);
    assert.ok(found[0] instanceof TransferError);
    assert.equal(found[0].message, "gone");
    assert.equal((found[1] as { status: number }).status, 201);
    assert.deepEqual(seen, ["pipeline"]);
  });
});
