import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { buffer } from "node:stream/consumers";
import type { Bytes } from "../base/bytes.ts";
import type { Control } from "./control-file.ts";
import { StartError } from "./start-error.ts";

/** Longer than fetching the keys of a token issuer may take. */
const ANSWER_MS_MAX = 60_000;

export interface ServerAnswer {
  readonly status: number;
  readonly body: Bytes;
}

/** Sends a request to a door of a running server. Resolves to null if it does not run any more. */
export function askServer(
  { origin, token }: Pick<Control, "origin" | "token">,
  door: string,
  body = "",
): Promise<ServerAnswer | null> {
  if (origin === null) return Promise.resolve(null);
  const url = new URL(`/-/${door}`, reachable(origin));
  const options = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-length": Buffer.byteLength(body) },
    timeout: ANSWER_MS_MAX,
    // The server is on this machine, its certificate is for others, and its token dies with it.
    rejectUnauthorized: false,
  };
  const send = url.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = send(url, options, (answer) => {
      const status = answer.statusCode ?? 0;
      buffer(answer).then((all) => resolve({ status, body: all }), reject);
    });
    sent.on("timeout", () => sent.destroy(new StartError(`${url.origin} does not answer.`)));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve(null);
      else reject(new StartError(`${url.origin} cannot be reached (${error.message}).`));
    });
    sent.end(body);
  });
}

/** A server that listens on every address is reached on loopback. */
function reachable(origin: string): string {
  return origin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
