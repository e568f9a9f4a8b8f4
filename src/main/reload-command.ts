import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import { resolve } from "node:path";
import type { ReloadAnswer } from "../front/rest/http/admin.ts";
import { type Control, readControl } from "./control-file.ts";
import { StartError } from "./start-error.ts";

/** Longer than fetching the keys of a token issuer may take. */
const ANSWER_MS_MAX = 60_000;
const RELOADED = 200;
const REFUSED = 422;

/** Makes the server on a data folder reload. Returns its line. Throws a `StartError` if it refuses. */
export async function reloadServer(location: string): Promise<string> {
  const folder = resolve(location);
  const control = await readControl(folder);
  if (control !== null && control.origin === null) {
    throw new StartError(
      `The server on ${folder} speaks SMB only: send SIGHUP to its process ${control.pid} instead.`,
    );
  }
  const done = control === null ? null : await askToReload(control);
  if (done === null) {
    throw new StartError(
      `No server runs on ${folder}. Give the folder of a running one with --location, or send ` +
        "SIGHUP to its process.",
    );
  }
  if (!done.isReloaded) throw new StartError(done.line);
  return done.line;
}

/** Resolves to null if that server does not run any more. */
export function askToReload({ origin, token }: Control): Promise<ReloadAnswer | null> {
  if (origin === null) return Promise.resolve(null);
  const url = new URL("/-/reload", reachable(origin));
  const options = {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-length": 0 },
    timeout: ANSWER_MS_MAX,
    // The server is on this machine, its certificate is for others, and its token dies with it.
    rejectUnauthorized: false,
  };
  const send = url.protocol === "https:" ? requestSecure : requestPlain;
  return new Promise((resolve, reject) => {
    const sent = send(url, options, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      answer.on("error", reject).on("end", () => {
        const { statusCode } = answer;
        const isOurs = statusCode === RELOADED || statusCode === REFUSED;
        // Another program may listen there by now.
        resolve(isOurs ? { isReloaded: statusCode === RELOADED, line: text.trimEnd() } : null);
      });
    });
    sent.on("timeout", () => sent.destroy(new StartError(`${url.origin} does not answer.`)));
    sent.on("error", (error: NodeJS.ErrnoException) => {
      if (error.code === "ECONNREFUSED") resolve(null);
      else reject(new StartError(`${url.origin} cannot be reached (${error.message}).`));
    });
    sent.end();
  });
}

/** A server that listens on every address is reached on loopback. */
function reachable(origin: string): string {
  return origin.replace("//0.0.0.0:", "//127.0.0.1:").replace("//[::]:", "//[::1]:");
}
