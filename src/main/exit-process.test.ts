import assert from "node:assert/strict";
import { test } from "node:test";
import { exitProcess } from "./exit-process.ts";

/** Ends a process; returns the calls that this makes. */
function endOf(platform: NodeJS.Platform, isTerminalClosed: boolean): string[] {
  const calls: string[] = [];
  const one = {
    pid: 17,
    platform,
    exit: (code: number) => calls.push(`exit ${code}`),
    kill: (pid: number, signal: string) => calls.push(`kill ${pid} ${signal}`),
    removeAllListeners: (event: string) => calls.push(`ignore ${event}`),
  };
  exitProcess(one, 1, isTerminalClosed);
  return calls;
}

test("a process exits with its code", () => {
  for (const platform of ["linux", "darwin", "win32"] as const) {
    assert.deepEqual(endOf(platform, false), ["exit 1"]);
  }
});

test("without its terminal a process ends by SIGHUP, but exits on Windows", () => {
  for (const platform of ["linux", "darwin"] as const) {
    assert.deepEqual(endOf(platform, true), ["ignore SIGHUP", "kill 17 SIGHUP"]);
  }
  assert.deepEqual(endOf("win32", true), ["exit 1"]);
});
