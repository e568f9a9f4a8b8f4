import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { type TestContext, test } from "node:test";
import { anyPorts } from "../../src/main/any-ports.fixture.ts";
import { REST_SERVICES } from "../../src/main/flags.ts";
import { LazuliProcess } from "../command/process.ts";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";
import { type Ran, run, skipWithoutSmbclient } from "./smbclient.ts";

const isRoot = process.getuid?.() === 0;
const skip =
  skipWithoutSmbclient ||
  (isRoot ? (skipWithoutDebianProgram("ip", "iproute2") ?? false) : "only root may make a network");
const PORTS = anyPorts(REST_SERVICES);
/** Runs in its own network namespace, where no other machine reaches it. */
const OWN_NETWORK = ["unshare", "--net", "sh", "-c", 'ip link set lo up && exec "$@"', "sh"];
const KEY = randomBytes(64).toString("base64");

/** A server that other machines could reach, and smbclient beside it. */
async function started(t: TestContext, ...flags: string[]) {
  const args = ["--inMemoryPersistence", "--smbHost", "0.0.0.0", ...PORTS, ...flags];
  const lazuli = new LazuliProcess(args, { AZURITE_ACCOUNTS: `shop:${KEY}` }, OWN_NETWORK);
  t.after(() => lazuli.kill());
  await lazuli.printed(/^SMB service .*:(\d+)\n/m);
  const list = (dialect: string, key = KEY): Promise<Ran> =>
    run("nsenter", [
      ...["-t", String(lazuli.pid), "-n", "smbclient", "-L", "//127.0.0.1", "-p", "10445"],
      ...["-U", `shop%${key}`, "-m", dialect],
    ]);
  const stop = async () => {
    lazuli.signal("SIGTERM");
    return await lazuli.ended();
  };
  return { list, stop };
}

test("beyond loopback SMB 2 is refused, and 3.0 and later are accepted", { skip }, async (t) => {
  const { list, stop } = await started(t);
  for (const dialect of ["SMB2_02", "SMB2_10"]) {
    const { code, text } = await list(dialect);
    assert.notEqual(code, 0);
    assert.match(text, /negotiation .*failed|NOT_SUPPORTED/);
  }
  for (const dialect of ["SMB3_00", "SMB3_02", "SMB3_11"]) {
    assert.match((await list(dialect)).text, /IPC\$/, dialect);
  }
  await list("SMB3_11", "d3Jvbmcga2V5");
  const { err } = await stop();
  assert.match(
    err,
    /^\S+ SMB: log-on refused: account "shop" at 127\.0\.0\.1: wrong account or key/m,
  );
});

test("beyond loopback SMB 2 is accepted if the flags permit it", { skip }, async (t) => {
  const { list } = await started(t, "--smbMinDialect", "2.1", "--smbEncryption", "preferred");
  assert.match((await list("SMB2_10")).text, /IPC\$/);
  assert.match((await list("SMB2_02")).text, /negotiation .*failed|NOT_SUPPORTED/);
});
