import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { Hangups, isTerminalClosed } from "./hangups.ts";

const terminalOpen = () => false;
const noStop = () => assert.fail("the server stops");

/** Lets fulfilled promises run their callbacks. */
async function runCallbacks(): Promise<void> {
  for (let round = 0; round < 10; round++) await undefined;
}

test("a signal runs the handlers in order, and one during the start waits for its end", async () => {
  const source = new EventEmitter();
  const hangups = new Hangups(source, terminalOpen);
  const ran: string[] = [];
  source.emit("SIGHUP");
  await runCallbacks();
  const handler = (name: string) => async () => {
    await runCallbacks();
    ran.push(name);
  };
  hangups.begin(noStop, handler("a"), handler("b"));
  for (let round = 0; round < 5; round++) await runCallbacks();
  assert.deepEqual(ran, ["a", "b"]);
  source.emit("SIGHUP");
  for (let round = 0; round < 5; round++) await runCallbacks();
  assert.deepEqual(ran, ["a", "b", "a", "b"]);
});

test("signals during a round ask for one more round, not for two at a time", async () => {
  const source = new EventEmitter();
  const hangups = new Hangups(source, terminalOpen);
  let running = 0;
  let rounds = 0;
  hangups.begin(noStop, async () => {
    rounds++;
    assert.equal(++running, 1);
    if (rounds === 1) for (let more = 0; more < 3; more++) source.emit("SIGHUP");
    await runCallbacks();
    running--;
  });
  source.emit("SIGHUP");
  for (let round = 0; round < 10; round++) await runCallbacks();
  assert.equal(rounds, 2);
});

test("the message reload of a parent process counts as a signal, others do not", async () => {
  const source = new EventEmitter();
  let rounds = 0;
  new Hangups(source, terminalOpen).begin(noStop, async () => {
    rounds++;
  });
  for (const message of ["shutdown", { reload: true }, "reload"]) source.emit("message", message);
  await runCallbacks();
  assert.equal(rounds, 1);
});

for (const { platform, isInteractive } of [
  { platform: "linux", isInteractive: true },
  { platform: "darwin", isInteractive: true },
  { platform: "win32", isInteractive: true },
  { platform: "win32", isInteractive: false },
] as const) {
  const where = `${platform}, ${isInteractive ? "in a terminal" : "without one"}`;
  test(`a SIGHUP of a closed terminal stops the server and reloads nothing: ${where}`, async () => {
    const source = new EventEmitter();
    const isClosed = () => isTerminalClosed({ platform, isInteractive, hasTerminal: () => false });
    const hangups = new Hangups(source, isClosed);
    const did: string[] = [];
    source.emit("SIGHUP");
    assert.equal(did.length, 0, "the start goes on");
    const reload = async () => {
      did.push("reload");
    };
    hangups.begin(() => did.push("stop"), reload);
    assert.deepEqual(did, ["stop"], "the signal during the start");
    source.emit("SIGHUP");
    await runCallbacks();
    assert.deepEqual(did, ["stop", "stop"]);
  });
}

test("a closed terminal or console stops the server, an operator's signal does not", () => {
  const traits = (platform: NodeJS.Platform, isInteractive: boolean, has: boolean) =>
    isTerminalClosed({ platform, isInteractive, hasTerminal: () => has });
  assert.equal(traits("linux", false, false), false, "a service");
  assert.equal(traits("linux", true, true), false, "kill -HUP from another terminal");
  assert.equal(traits("linux", true, false), true, "the terminal is gone");
  assert.equal(traits("darwin", true, false), true);
  assert.equal(traits("win32", false, true), true);
});
