import * as http from "node:http";
import * as https from "node:https";
import type { Terminal } from "./log.ts";

/** The exit code of `lazuli health` if no server answers, or one that cannot serve. */
export const UNHEALTHY_EXIT_CODE = 1;

/** A server that takes longer serves nobody. */
const ANSWER_MS_MAX = 10_000;
const PATH = "/healthz";

interface Answer {
  readonly status: number;
  readonly text: string;
}

/**
 * Asks the services of a server, in order, until one answers: all report the health of the whole
 * server. Returns the exit code.
 */
export async function health(origins: readonly string[], terminal: Terminal): Promise<number> {
  const failures: string[] = [];
  for (const origin of origins) {
    try {
      const { status, text } = await ask(origin);
      if (status === 200) {
        terminal.out(`healthy: ${origin} says: ${text}`);
        return 0;
      }
      terminal.err(`unhealthy: ${origin} answers ${status}: ${text}`);
      return UNHEALTHY_EXIT_CODE;
    } catch (error) {
      failures.push(`${origin} (${(error as Error).message})`);
    }
  }
  terminal.err(
    `unhealthy: nothing answers at ${failures.join(", ")}. ` +
      "Start the server, or name its port with --blobPort or the like.",
  );
  return UNHEALTHY_EXIT_CODE;
}

/** Asks over HTTP, and over HTTPS if the port does not speak that. */
async function ask(origin: string): Promise<Answer> {
  try {
    return await answerOf(http.get(origin + PATH, { timeout: ANSWER_MS_MAX, agent: false }));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ECONNREFUSED") throw error;
    const url = `${origin.replace("http:", "https:")}${PATH}`;
    // Nothing secret is sent, and the certificate need not be for this address.
    const options = { timeout: ANSWER_MS_MAX, agent: false, rejectUnauthorized: false };
    return await answerOf(https.get(url, options));
  }
}

function answerOf(request: http.ClientRequest): Promise<Answer> {
  return new Promise((resolve, reject) => {
    request.on("error", reject);
    request.on("timeout", () => request.destroy(new Error("no answer in time")));
    request.on("response", (response) => {
      let text = "";
      response.setEncoding("utf8").on("data", (part: string) => {
        text += part;
      });
      response.on("error", reject);
      response.on("end", () => resolve({ status: response.statusCode ?? 0, text: text.trim() }));
    });
  });
}
