import { readFile } from "node:fs/promises";
import { KIB } from "../../../base/limits.ts";
import { type AllowedSources, SourceGuard, urlOf } from "../source/allowed-sources.ts";
import { ForbiddenAddress, sendGuarded } from "../source/guarded-request.ts";
import { isLocal } from "../source/own-endpoints.ts";
import type { LoadKeys } from "./issuer-keys.ts";
import { readKeySet } from "./signing-keys.ts";

/** Limits on fetching keys from an issuer. */
export interface KeyFetchLimits {
  readonly bytesMax: number;
  /** Time limit for the whole response. */
  readonly totalMs: number;
}

const LIMITS: KeyFetchLimits = { bytesMax: 256 * KIB, totalMs: 5_000 };

/** Loads a JWKS from a file, reading it each time. */
export function keysInFile(path: string): LoadKeys {
  return async () => {
    try {
      return readKeySet(await readFile(path, "utf8"));
    } catch (error) {
      throw new Error(`${path}: ${(error as Error).message}`);
    }
  };
}

/**
 * Loads a JWKS from a URL under the rules for copy sources: no redirects, and the host must resolve
 * to a public address or to one in `networks`. Throws an Error for the operator if the URL is
 * unusable.
 */
export function keysAtUrl(
  text: string,
  networks: AllowedSources["networks"],
  limits: KeyFetchLimits = LIMITS,
): LoadKeys {
  const url = urlOf(text);
  const isSafe =
    url !== null &&
    url.username === "" &&
    url.password === "" &&
    (url.protocol === "https:" || (url.protocol === "http:" && isLocal(url.hostname)));
  if (!isSafe) {
    throw new Error(
      `"${text}" cannot be fetched keys from. Give an https URL; on the way of plain http ` +
        "anybody could put keys of their own in.",
    );
  }
  const guard = new SourceGuard({ origins: [url.origin], networks });
  return async () => {
    try {
      return readKeySet(await fetchText(url, guard, limits));
    } catch (error) {
      const hint =
        error instanceof ForbiddenAddress
          ? `. If that is meant, add its network to "oauth.networks" in the configuration file`
          : "";
      throw new Error(`${text}: ${(error as Error).message}${hint}`);
    }
  };
}

async function fetchText(url: URL, guard: SourceGuard, limits: KeyFetchLimits): Promise<string> {
  const answer = await sendGuarded({
    secure: url.protocol === "https:",
    authority: url.host,
    target: url.pathname + url.search,
    method: "GET",
    headers: { accept: "application/json" },
    guard,
    answerMs: limits.totalMs,
  });
  const timer = setTimeout(() => answer.destroy(new Error("it is too slow")), limits.totalMs);
  try {
    if (answer.statusCode !== 200) throw new Error(`it answered with status ${answer.statusCode}`);
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of answer as AsyncIterable<Buffer>) {
      parts.push(part);
      length += part.length;
      if (length > limits.bytesMax) throw new Error(`it is longer than ${limits.bytesMax} bytes`);
    }
    return Buffer.concat(parts).toString("utf8");
  } finally {
    clearTimeout(timer);
    answer.destroy();
  }
}
