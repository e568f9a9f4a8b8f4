import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { resolve } from "node:path";
import { buffer } from "node:stream/consumers";
import type { Bytes } from "../base/bytes.ts";
import { type Control, readControl } from "./control-file.ts";
import { StartError } from "./start-error.ts";

/** Longer than fetching the keys of a token issuer may take. */
const ANSWER_MS_MAX = 60_000;

export interface ServerAnswer {
  readonly status: number;
  readonly body: Bytes;
}

const OK = 200;
const UNKNOWN_DOOR = [400, 401, 403, 404, 405];

/** Whether something else than our server may have answered: the lock of the folder tells. */
export function isOfAnother({ status }: ServerAnswer): boolean {
  return UNKNOWN_DOOR.includes(status);
}

/** The server on a data folder. Null if none runs there. Throws a `StartError` if it cannot be asked. */
export async function findServer(location: string): Promise<Control | null> {
  const folder = resolve(location);
  const control = await readControl(folder);
  if (control === null || control.origin !== null) return control;
  throw new StartError(
    `The server on ${folder} speaks SMB only, and takes no commands: stop it first, or start ` +
      "one more service with it.",
  );
}

/**
 * Asks the API of the server on a data folder: `/api/holders`. Null if none runs there. Throws a
 * `StartError`.
 */
export async function askApi<T>(location: string, path: string): Promise<T | null> {
  const control = await findServer(location);
  const answer = control === null ? null : await askServer(control, path.slice(1), "", "GET");
  if (answer === null || isOfAnother(answer)) return null;
  const json = JSON.parse(answer.body.toString());
  if (answer.status === OK) return json;
  throw new StartError(json.message);
}

/** Sends a request to a door of a running server. Resolves to null if it does not run any more. */
export function askServer(
  { origin, token }: Pick<Control, "origin" | "token">,
  door: string,
  body = "",
  method = "POST",
): Promise<ServerAnswer | null> {
  if (origin === null) return Promise.resolve(null);
  const url = new URL(`/-/${door}`, reachable(origin));
  const options = {
    method,
    headers: { authorization: `Bearer ${token}`, "content-length": Buffer.byteLength(body) },
    timeout: ANSWER_MS_MAX,
    // The server is on this machine, its certificate is for others, and its token dies with it.
    rejectUnauthorized: false,
  };
  const send = url.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((done, reject) => {
    const sent = send(url, options, (answer) => {
      const status = answer.statusCode ?? 0;
      buffer(answer).then((all) => done({ status, body: all }), reject);
    });
    sent.on("timeout", () => sent.destroy(new StartError(`${url.origin} does not answer.`)));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") done(null);
      else reject(new StartError(`${url.origin} cannot be reached (${error.message}).`));
    });
    sent.end(body);
  });
}

/** A server that listens on every address is reached on loopback. */
function reachable(origin: string): string {
  return origin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
