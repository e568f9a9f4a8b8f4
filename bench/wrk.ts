import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { outputOf } from "./children.ts";
import { ensureDebianPackage } from "./debian-package.ts";
import type { Run } from "./run.ts";
import { ROOT } from "./server.ts";

const ANSWER_SECONDS_MAX = 30;

/** The load generator `wrk`, which costs a few microseconds per request. */
export class Wrk {
  readonly #requestFile: string;

  constructor(scratch: string) {
    this.#requestFile = join(scratch, "requests");
  }

  async replay(
    port: number,
    requests: readonly Buffer[],
    connections: number,
    seconds: number,
  ): Promise<Run> {
    const framed = requests.flatMap((request) => [Buffer.from(`${request.length}\n`), request]);
    writeFileSync(this.#requestFile, Buffer.concat(framed));
    const output = await outputOf("wrk", [
      ...["--threads", "1", "--connections", String(connections), "--duration", `${seconds}s`],
      ...["--timeout", `${ANSWER_SECONDS_MAX}s`],
      ...["--script", join(ROOT, "bench/replay.lua"), `http://127.0.0.1:${port}`],
      ...["--", this.#requestFile],
    ]);
    const summary = JSON.parse(/^SUMMARY (.*)$/m.exec(output)?.[1] ?? "null");
    if (summary === null) throw new Error(`wrk printed no summary:\n${output}`);
    if (summary.refused + summary.broken > 0) {
      const { requests: all, refused, broken } = summary;
      throw new Error(`Of ${all} requests ${refused} were refused and ${broken} broke off.`);
    }
    return {
      requests: summary.requests,
      seconds: summary.elapsedMicros / 1e6,
      p50Ms: summary.p50Micros / 1e3,
      p99Ms: summary.p99Micros / 1e3,
    };
  }
}

/** Whether `wrk` can be started. */
export function ensureWrk(): boolean {
  return ensureDebianPackage("wrk", "wrk");
}
