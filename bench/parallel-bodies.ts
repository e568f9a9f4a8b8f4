import { randomBytes } from "node:crypto";
import { Connection } from "./connection.ts";
import { answerTo } from "./load.ts";
import { peakBytesOf } from "./proc.ts";
import type { Reading } from "./reading.ts";
import { createContainer, getBlob, putBlobHead } from "./requests.ts";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";

const CLIENTS = 64;
const BODY_MIB = 256;
const MIB = 1024 * 1024;

/** Measures the server's peak memory while many large bodies are uploaded, then downloaded. */
export function memoryOfParallelBodies({ servers }: Bench): Promise<Reading> {
  return servers.withFresh("lazuli", async (target) => {
    await answerTo(target, createContainer(target));
    const part = randomBytes(MIB);
    const upSeconds = await timed(target, (connection, blob) =>
      connection.send(putBlobHead(target, blob), part, BODY_MIB),
    );
    const afterUploads = peakBytesOf(target.pid) / MIB;
    const downSeconds = await timed(target, (connection, blob) =>
      connection.exchange(getBlob(target, blob)),
    );
    const rates = [upSeconds, downSeconds].map((seconds) =>
      Math.round((CLIENTS * BODY_MIB) / seconds),
    );
    return {
      value: peakBytesOf(target.pid) / MIB,
      note: `${Math.round(afterUploads)} MiB after the uploads; ${rates.join(" and ")} MiB/s`,
    };
  });
}

async function timed(
  target: Target,
  ask: (
    connection: Connection,
    blob: { index: number; bytes: number },
  ) => Promise<{ status: number; text: string }>,
): Promise<number> {
  const startedMs = performance.now();
  const client = async (index: number) => {
    const connection = await Connection.open(target.port);
    const { status, text } = await ask(connection, { index, bytes: BODY_MIB * MIB });
    if (status >= 300) throw new Error(`A body of ${BODY_MIB} MiB got ${status}: ${text}`);
    connection.close();
  };
  await Promise.all(Array.from({ length: CLIENTS }, (_, index) => client(index)));
  return (performance.now() - startedMs) / 1_000;
}
