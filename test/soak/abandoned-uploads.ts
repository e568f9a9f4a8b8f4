// Clients that abandon uploads while fdatasync is slow: aborts that the server survives. Flags: --aborts N, --slowMs N.
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { BlobServiceClient } from "@azure/storage-blob";
import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";
import { beginUpload } from "../sdk/begin-upload.ts";
import { CREDENTIAL } from "../sdk/server.ts";
import { report } from "./figure.ts";

/** Concurrent uploads. */
const UPLOADS = 4;

const { values } = parseArgs({
  options: {
    aborts: { type: "string", default: "100" },
    slowMs: { type: "string", default: "15000" },
  },
});
const aborts = Number(values.aborts);
const slowMs = Number(values.slowMs);
if (!(aborts > 0 && slowMs >= 0)) throw new Error("--aborts and --slowMs take numbers");

/** Runs in the server before anything else: delays the end of each fdatasync. */
const SLOW_DISK = `
import { open } from "node:fs/promises";
const file = await open(process.execPath);
await file.close();
const handles = Object.getPrototypeOf(file);
const { datasync } = handles;
handles.datasync = async function () {
  await datasync.call(this);
  await new Promise((resolve) => setTimeout(resolve, ${slowMs})); // tidy-allow sleep: a slow disk
};
`;

const folder = await mkdtemp(join(tmpdir(), "lazuli-abandoned-"));
const server = new LazuliProcess(["--location", folder, ...ANY_PORTS], {
  NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(SLOW_DISK)}`,
});
try {
  const url = await server.urlOf("Blob");
  const client = new BlobServiceClient(url, CREDENTIAL, { retryOptions: { maxTries: 1 } });
  const container = client.getContainerClient("abandoned");
  await container.create();
  let survived = 0;
  for (let begun = 0; begun < aborts && server.isRunning; begun += UPLOADS) {
    const uploads = await Promise.all(
      Array.from({ length: Math.min(UPLOADS, aborts - begun) }, (_, at) =>
        beginUpload(container.getBlockBlobClient(`upload-${begun + at}`)),
      ),
    );
    for (const upload of uploads) upload.destroy();
    // An answer shows that the server lives.
    const isAlive = await container.exists().catch(() => false);
    if (isAlive) survived += uploads.length;
  }
  server.signal("SIGTERM");
  const { code, err } = await server.ended();
  if (err !== "") console.log(err);
  report([
    {
      promise: `uploads abandoned while each fdatasync takes ${slowMs} ms do not stop the server`,
      found: `${survived} of ${aborts} aborts survived, exit code ${code}`,
      bar: "all survived, exit code 0",
      met: survived === aborts && code === 0,
    },
  ]);
} finally {
  await server.kill();
  await rm(folder, { recursive: true });
}
