// Runs a program, whose tests use one PostgreSQL server and, if LAZULI_TEST_BYTES is s3, one object
// store, that are started for all of them: node with-servers.js program arguments…
import { spawn } from "node:child_process";
import {
  PostgresServer,
  skipWithoutPostgres,
} from "../../src/engine/postgres/postgres-server.fixture.ts";
import { skipWithoutObjectStore, urlOf } from "../s3/object-store.ts";
import { startRadosgw } from "../s3/radosgw.ts";

const [program = "", ...args] = process.argv.slice(2);
const needsObjects = process.env.LAZULI_TEST_BYTES === "s3";
const skip = skipWithoutPostgres() ?? (needsObjects ? skipWithoutObjectStore() : null);
if (skip === null) process.exitCode = await run();
else console.log(`skipped: ${skip}`);

async function run(): Promise<number> {
  const closing: (() => Promise<void>)[] = [];
  try {
    const env: NodeJS.ProcessEnv = { ...process.env };
    if (env.LAZULI_TEST_POSTGRES === undefined) {
      const server = await PostgresServer.start("max_connections=1000");
      closing.push(() => server.remove());
      env.LAZULI_TEST_POSTGRES = server.libpqUrl();
    }
    if (needsObjects && env.LAZULI_TEST_S3 === undefined) {
      const radosgw = await startRadosgw();
      closing.push(() => radosgw.stop());
      env.LAZULI_TEST_S3 = urlOf(radosgw);
    }
    const child = spawn(program, args, { env, stdio: "inherit" });
    return await new Promise((resolve) => child.once("close", (code) => resolve(code ?? 1)));
  } finally {
    for (const close of closing.reverse()) await close();
  }
}
