import { createServer } from "node:http";

// The floor: the cost of node:http by itself. It sends as many bytes and about as many headers as a
// blob server, but checks and stores nothing. The last part of a blob's name is its size: see
// requests.ts.

const BLOB_HEADERS = {
  "Content-Type": "application/octet-stream",
  "Content-MD5": "1B2M2Y8AsgTpgAmY7PhCfg==",
  "Last-Modified": "Mon, 06 Jan 2025 10:00:00 GMT",
  "Accept-Ranges": "bytes",
  ETag: '"0x8DD2E3A1B2C3D40"',
  "x-ms-request-id": "5d6f2a34-801e-0042-7a11-60c1f2000000",
  "x-ms-client-request-id": "9b0f5e0e-6a43-4a5b-8d5c-0d1c5a3c9f11",
  "x-ms-version": "2024-11-04",
  "x-ms-creation-time": "Mon, 06 Jan 2025 10:00:00 GMT",
  "x-ms-lease-status": "unlocked",
  "x-ms-lease-state": "available",
  "x-ms-blob-type": "BlockBlob",
  "x-ms-server-encrypted": "true",
  Server: "floor",
};

const bodies = new Map<number, Buffer>();

const server = createServer((request, response) => {
  if (request.method === "PUT") {
    request.resume();
    request.on("end", () => {
      response.writeHead(201, { ...BLOB_HEADERS, "Content-Length": 0 });
      response.end();
    });
    return;
  }
  const bytes = Number(request.url?.slice(request.url.lastIndexOf(".") + 1));
  response.writeHead(200, { ...BLOB_HEADERS, "Content-Length": bytes });
  if (request.method === "HEAD") response.end();
  else response.end(bodyOf(bytes));
});

function bodyOf(bytes: number): Buffer {
  let body = bodies.get(bytes);
  if (body === undefined) {
    body = Buffer.alloc(bytes, "x");
    bodies.set(bytes, body);
  }
  return body;
}

const port = Number(process.argv[2]);
server.listen(port, "127.0.0.1", () => console.log(`listening at http://127.0.0.1:${port}`));
process.on("SIGTERM", () => process.exit());
