import assert from "node:assert/strict";
import type { RawAnswer, RawAsked } from "./raw-request.ts";

/** An operation, and the letters of a SAS of which each alone grants it. */
export interface SasOperation {
  readonly name: string;
  readonly asked: RawAsked;
  /** In `srt` of an account SAS: one of them. */
  readonly type: "s" | "c" | "o" | "co";
  readonly account: string;
  /** For a service SAS of the container or share; "" if none grants it. */
  readonly service: string;
}

export function op(
  method: string,
  path: string,
  type: SasOperation["type"],
  account: string,
  service: string,
  headers: Record<string, string> = {},
  body?: string,
): SasOperation {
  const asked = { method, path, headers, signed: false, ...(body !== undefined && { body }) };
  return { name: `${method} ${path} ${Object.values(headers)}`, asked, type, account, service };
}

/** Tries a request with each letter; `prepare` restores the initial state. */
export async function lettersThatOpen(
  letters: string,
  ask: (letter: string) => Promise<RawAnswer>,
  prepare: () => Promise<void>,
): Promise<string> {
  let opened = "";
  for (const letter of letters) {
    const { status, text } = await ask(letter);
    if (status === 403) continue;
    assert.ok(status < 300, `${letter}: ${status} ${text}`);
    opened += letter;
    await prepare();
  }
  return opened;
}

/** Sorts letters in the order of `all`. */
export function inOrder(letters: string, all: string): string {
  return [...all].filter((letter) => letters.includes(letter)).join("");
}

export function withSas(path: string, sas: string): string {
  return `${path}${path.includes("?") ? "&" : "?"}${sas}`;
}
