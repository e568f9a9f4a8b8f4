import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { REST_FAULTS } from "../../src/front/rest/fault-status.ts";

interface Messages {
  readonly sources: Readonly<Record<string, string>>;
  /** By fault: the source of the message, and the message. */
  readonly known: Readonly<Record<string, readonly [source: string, message: string]>>;
  /** Faults for which no message of the service is known. */
  readonly own: readonly string[];
}

/** This file runs from `dist`. */
const FILE = fileURLToPath(new URL("../../../test/vectors/error-messages.json", import.meta.url));
const { sources, known, own }: Messages = JSON.parse(readFileSync(FILE, "utf8"));

test("messages are the service's own wherever they are known", () => {
  const found = Object.entries(REST_FAULTS)
    .filter(([fault]) => fault in known)
    .map(([fault, { message }]) => [fault, message]);
  const expected = Object.entries(known).map(([fault, [, message]]) => [fault, message]);
  assert.deepEqual(Object.fromEntries(found), Object.fromEntries(expected));
});

test("each message has a source, or is listed as our own", () => {
  assert.deepEqual([...Object.keys(known), ...own].sort(), Object.keys(REST_FAULTS).sort());
  for (const [fault, [source]] of Object.entries(known)) assert.ok(source in sources, fault);
});
