import assert from "node:assert/strict";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, type TestContext, test } from "node:test";
import { BlobServiceClient } from "@azure/storage-blob";
import { anyPorts } from "../../src/main/any-ports.fixture.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { type Invocation, LazuliProcess } from "./process.ts";

const scratch = mkdtempSync(join(tmpdir(), "lazuli-names-"));
after(() => rmSync(scratch, { recursive: true }));

const ANY_PORTS = anyPorts(["blob", "queue", "table"]);

function start(t: TestContext, invocation: Invocation, ...args: string[]): LazuliProcess {
  const started = new LazuliProcess(args, {}, [], invocation);
  t.after(() => started.kill());
  return started;
}

test("azurite starts Azurite's services with Azurite's lines, --silent or not", async (t) => {
  for (const silent of [[], ["--silent"]]) {
    const memory = ["--inMemoryPersistence", ...ANY_PORTS, ...silent];
    const azurite = start(t, { program: "azurite" }, ...memory);
    await azurite.printed(/^Azurite Table service is successfully listening at http\S+$/m);
    const blob = await azurite.printed(/^Azurite Blob service is successfully \w+ at (http\S+)$/m);
    const client = new BlobServiceClient(`${blob}/devstoreaccount1`, CREDENTIAL);
    assert.equal(
      (await client.createContainer("box")).containerCreateResponse._response.status,
      201,
    );
    azurite.signal("SIGINT");
    const { code, out, err } = await azurite.ended();
    assert.deepEqual([code, err], [0, ""]);
    assert.equal(
      out.replaceAll(/:\d{2,}$/gm, ":PORT"),
      `Azurite Blob service is starting at http://127.0.0.1:0
Azurite Blob service is successfully listening at http://127.0.0.1:PORT
Azurite Queue service is starting at http://127.0.0.1:0
Azurite Queue service is successfully listening at http://127.0.0.1:PORT
Azurite Table service is starting at http://127.0.0.1:0
Azurite Table service is successfully listening at http://127.0.0.1:PORT
Azurite Blob service is closing...
Azurite Queue service is closing...
Azurite Table service is closing...
Azurite Blob service successfully closed
Azurite Queue service successfully closed
Azurite Table service successfully closed
`,
    );
  }
});

test("azurite-blob, azurite-queue and azurite-table start their service only", async (t) => {
  for (const service of ["blob", "queue", "table"]) {
    const args = ["--inMemoryPersistence", `--${service}Port`, "0"];
    const program = start(t, { program: `azurite-${service}`, hasChannel: true }, ...args);
    await program.printed(/^Azurite \w+ service successfully \w+ on /m);
    program.send("shutdown");
    const { code, out } = await program.ended();
    assert.equal(code, 0);
    const title = `Azurite ${service[0]?.toUpperCase()}${service.slice(1)} service`;
    const lines = out.trimEnd().split("\n");
    assert.equal(lines.length, 4, out);
    for (const line of lines) assert.ok(line.startsWith(title), line);
  }
});

test("no program creates a data folder where Azurite has its data", async (t) => {
  const folder = join(scratch, "azurite");
  mkdirSync(join(folder, "__blobstorage__"), { recursive: true });
  writeFileSync(join(folder, "__azurite_db_blob__.json"), "{}");
  const before = readdirSync(folder);
  const starts: [Invocation, ...string[]][] = [
    [{ program: "lazuli" }, "--location", folder],
    [{ program: "azurite" }, "-l", folder],
    // Azurite looks for its data in the folder in which it is started.
    [{ program: "azurite-blob", cwd: folder }],
  ];
  for (const [invocation, ...args] of starts) {
    const { code, out, err } = await start(t, invocation, ...args).ended();
    assert.deepEqual([code, out], [1, ""]);
    assert.match(
      err,
      /^\S+ holds data of Azurite \([^\n]*lazuli import [^\n]*switching-from-azurite\.md\)\.\n$/,
    );
  }
  assert.deepEqual(readdirSync(folder), before, "nothing was added");
});
