import assert from "node:assert/strict";
import { EventEmitter } from "node:events";
import { test } from "node:test";
import { Hangups, isTerminalClosed } from "./hangups.ts";

/** Lets fulfilled promises run their callbacks. */
async function runCallbacks(): Promise<void> {
  for (let round = 0; round < 10; round++) await undefined;
}

test("a signal runs the handlers in order, and one during the start waits for its end", async () => {
  const source = new EventEmitter();
  const hangups = new Hangups(source);
  const ran: string[] = [];
  source.emit("SIGHUP");
  await runCallbacks();
  const handler = (name: string) => async () => {
    await runCallbacks();
    ran.push(name);
  };
  hangups.begin(handler("a"), handler("b"));
  for (let round = 0; round < 5; round++) await runCallbacks();
  assert.deepEqual(ran, ["a", "b"]);
  source.emit("SIGHUP");
  for (let round = 0; round < 5; round++) await runCallbacks();
  assert.deepEqual(ran, ["a", "b", "a", "b"]);
});

test("signals during a round ask for one more round, not for two at a time", async () => {
  const source = new EventEmitter();
  const hangups = new Hangups(source);
  let running = 0;
  let rounds = 0;
  hangups.begin(async () => {
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
  new Hangups(source).begin(async () => {
    rounds++;
  });
  for (const message of ["shutdown", { reload: true }, "reload"]) source.emit("message", message);
  await runCallbacks();
  assert.equal(rounds, 1);
});

test("a closed terminal or console stops the server, an operator's signal does not", () => {
  const traits = (platform: NodeJS.Platform, isInteractive: boolean, has: boolean) =>
    isTerminalClosed({ platform, isInteractive, hasTerminal: () => has });
  assert.equal(traits("linux", false, false), false, "a service");
  assert.equal(traits("linux", true, true), false, "kill -HUP from another terminal");
  assert.equal(traits("linux", true, false), true, "the terminal is gone");
  assert.equal(traits("darwin", true, false), true);
  assert.equal(traits("win32", false, true), true);
});
