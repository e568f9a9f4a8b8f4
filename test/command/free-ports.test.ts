import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { freePort, freePorts } from "./free-ports.ts";

/** Enough that two processes which did not know of each other would choose some port twice. */
const MANY = 1_000;
const CLIENT_PORTS = "/proc/sys/net/ipv4/ip_local_port_range";

test("ports are chosen once, in all processes at a time", async () => {
  const here = await freePorts(MANY);
  const print = "console.log(JSON.stringify(await freePorts(1000)))";
  const module = new URL("./free-ports.js", import.meta.url).href;
  const script = `import { freePorts } from ${JSON.stringify(module)}; ${print}`;
  const there = execFileSync(process.execPath, ["--input-type=module", "--eval", script], {
    encoding: "utf8",
  });
  const all = [...here, ...(JSON.parse(there) as number[])];
  assert.equal(new Set(all).size, 2 * MANY);
});

test("no client gets them: they are not among the ports that the system gives away", {
  skip: process.platform === "linux" ? false : "this system does not tell which ports these are",
}, async () => {
  const [first = 0, last = 0] = readFileSync(CLIENT_PORTS, "utf8").trim().split(/\s+/).map(Number);
  const port = await freePort();
  assert.ok(port < first || port > last, `${port} is between ${first} and ${last}`);
});
