import assert from "node:assert/strict";
import { test } from "node:test";
import { startDataLake } from "../sdk/datalake-server.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { forThisFile } from "../sdk/server.ts";

const server = await forThisFile(startDataLake());
await rawRequest(server, { method: "PUT", path: "/box?resource=filesystem" });
await rawRequest(server, { method: "PUT", path: "/box/f?resource=file" });
await rawRequest(server, { method: "PUT", path: "/box/d/e?resource=directory" });

type Case = readonly [
  request: string,
  status: number,
  code: string,
  headers?: Readonly<Record<string, string>>,
  body?: string,
];

async function refuses(cases: readonly Case[]): Promise<void> {
  for (const [request, status, code, headers = {}, body] of cases) {
    const [method = "", path = ""] = request.split(" ");
    const asked = { method, path, headers, ...(body === undefined ? {} : { body }) };
    const answer = await rawRequest(server, asked);
    assert.deepEqual([answer.status, answer.code], [status, code], request);
    if (method !== "HEAD") assert.equal(JSON.parse(answer.text).error.code, code, request);
  }
}

test("requests that fit no operation are refused by the parameter that is wrong", async () => {
  await refuses([
    ["PUT /box/x", 400, "MissingRequiredQueryParameter"],
    ["PUT /box/x?resource=link", 400, "InvalidQueryParameterValue"],
    ["PATCH /box/f", 400, "MissingRequiredQueryParameter"],
    ["PATCH /box/f?action=grow", 400, "InvalidQueryParameterValue"],
    ["HEAD /box/f?action=look", 400, "InvalidQueryParameterValue"],
    ["POST /?resource=account", 405, "UnsupportedHttpVerb"],
    ["POST /box?resource=filesystem", 405, "UnsupportedHttpVerb"],
    ["PUT /box/x?resource=filesystem", 400, "InvalidUri"],
    ["GET /box?resource=filesystem", 400, "MissingRequiredQueryParameter"],
    ["GET /box?resource=filesystem&recursive=maybe", 400, "InvalidQueryParameterValue"],
    [
      "GET /box?resource=filesystem&recursive=true&maxResults=0",
      400,
      "OutOfRangeQueryParameterValue",
    ],
    [
      "GET /box?resource=filesystem&recursive=true&continuation=%3F",
      400,
      "InvalidQueryParameterValue",
    ],
    ["GET /box?resource=filesystem&recursive=true&directory=none", 404, "PathNotFound"],
    ["POST /box/f", 400, "MissingRequiredHeader"],
    ["POST /box/f", 400, "InvalidHeaderValue", { "x-ms-lease-action": "borrow" }],
    ["PUT /Box?resource=filesystem", 400, "InvalidResourceName"],
  ]);
});

test("positions and bodies of appends and flushes", async () => {
  await refuses([
    ["PATCH /box/f?action=append", 400, "MissingRequiredQueryParameter", {}, "x"],
    ["PATCH /box/f?action=append&position=-1", 400, "OutOfRangeQueryParameterValue", {}, "x"],
    ["PATCH /box/f?action=append&position=x", 400, "InvalidQueryParameterValue", {}, "x"],
    ["PATCH /box/f?action=append&position=0", 400, "InvalidHeaderValue"],
    ["PATCH /box/none?action=append&position=0", 404, "PathNotFound", {}, "x"],
    ["PATCH /box/d?action=append&position=0", 409, "PathConflict", {}, "x"],
    ["PATCH /box/f?action=flush", 400, "MissingRequiredQueryParameter"],
    ["PATCH /box/f?action=flush&position=0", 400, "ContentLengthMustBeZero", {}, "x"],
    ["PATCH /box/f?action=flush&position=1", 400, "InvalidFlushPosition"],
    ["PATCH /box/f?action=flush&position=0&close=yes", 400, "InvalidQueryParameterValue"],
    ["PATCH /box/d?action=flush&position=0", 409, "PathConflict"],
    [
      "PATCH /box/f?action=flush&position=0",
      400,
      "InvalidHeaderValue",
      { "x-ms-lease-action": "break" },
    ],
  ]);
});

test("names: their length, their depth and their characters", async () => {
  const deep = (levels: number) => Array.from({ length: levels }, () => "d").join("/");
  const made = await rawRequest(server, {
    method: "PUT",
    path: `/box/${deep(63)}?resource=directory`,
  });
  assert.equal(made.status, 201);
  await refuses([
    [`PUT /box/${deep(64)}?resource=directory`, 400, "InvalidUri"],
    [`PUT /box/${"n".repeat(1025)}?resource=file`, 400, "InvalidUri"],
    ["PUT /box/a%01b?resource=file", 400, "InvalidResourceName"],
    ["PUT /box/f/below?resource=file", 409, "PathConflict"],
    ["PUT /box/d?resource=file", 409, "PathConflict"],
    ["PUT /box/f?resource=directory", 409, "PathConflict"],
    ["DELETE /box/d", 409, "DirectoryNotEmpty"],
    ["PUT /box/d/e/f", 409, "InvalidRenameSourcePath", { "x-ms-rename-source": "/box/d" }],
    [
      "PUT /box/f",
      409,
      "InvalidSourceOrDestinationResourceType",
      { "x-ms-rename-source": "/box/d" },
    ],
    [
      "PUT /box/x?mode=other",
      400,
      "InvalidQueryParameterValue",
      { "x-ms-rename-source": "/box/d" },
    ],
  ]);
});

test("properties are pairs with values in Base64", async () => {
  await refuses([
    ["PUT /box/p?resource=file", 400, "InvalidHeaderValue", { "x-ms-properties": "a=%" }],
    ["PUT /box/p?resource=file", 400, "InvalidPropertyName", { "x-ms-properties": "=MQ==" }],
    ["PUT /box/p?resource=file", 400, "InvalidPropertyName", { "x-ms-properties": "a-b=MQ==" }],
    ["PUT /box/p?resource=file", 400, "InvalidHeaderValue", { "x-ms-properties": "a=MQ==,A=MQ==" }],
    ["PUT /box/p?resource=file", 400, "UnsupportedHeader", { "x-ms-encryption-scope": "s" }],
  ]);
  const missing = await rawRequest(server, { method: "HEAD", path: "/box/p" });
  assert.equal(missing.status, 404);
});
