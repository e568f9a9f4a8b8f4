import { answerTo } from "./load.ts";
import {
  createQueue,
  deleteMessage,
  getMessages,
  peekMessages,
  putMessages,
  takeMessages,
} from "./queue-requests.ts";
import type { Reading } from "./reading.ts";
import type { Bench } from "./row.ts";
import type { Target } from "./server.ts";

const MILLION = 1_000_000;
const FEW = 10;
/** Received and deleted for a measurement; the backlog remains. */
const TAKEN = 20_000;
/** Requests are made in parts, as signatures are valid for 15 minutes. */
const PART_MESSAGES = 50_000;

interface Costs {
  readonly get: Reading;
  readonly peek: Reading;
  readonly delete: Reading;
}

let measured: Promise<{ few: Costs; million: Costs }> | null = null;

/** Compares the server's processor time, which excludes the generator and the disk. */
export async function amongMillion(bench: Bench, operation: keyof Costs): Promise<Reading> {
  const { few, million } = await costs(bench);
  return {
    value: million[operation].cpuMicros ?? 0,
    inTheSmall: few[operation].cpuMicros ?? 0,
    note: "CPU per request; small: a backlog of 10",
  };
}

/** Shared by all rows, as the messages take minutes to write. */
function costs(bench: Bench): Promise<{ few: Costs; million: Costs }> {
  measured ??= bench.servers.withFresh("lazuli", async (fresh) => {
    const target = { ...fresh, port: fresh.queuePort };
    await answerTo(target, createQueue(target));
    const few = await costsAt(bench, target, FEW);
    await fill(bench, target, MILLION - FEW);
    return { few, million: await costsAt(bench, target, MILLION) };
  });
  return measured;
}

/** `backlog` messages already exist, unless they are few. */
async function costsAt(bench: Bench, target: Target, backlog: number): Promise<Costs> {
  const { load } = bench;
  await fill(bench, target, TAKEN * 2 + (backlog === FEW ? FEW : 0));
  const gets = Array.from({ length: TAKEN }, () => getMessages(target, 1));
  const get = await load.once(target, gets);
  const held = await takeMessages(target, TAKEN);
  const deletes = held.map((message) => deleteMessage(target, message));
  const ofDelete = await load.once(target, deletes);
  const peek = await load.many(target, [peekMessages(target, 1)]);
  return { get, peek, delete: ofDelete };
}

async function fill({ load }: Bench, target: Target, messages: number): Promise<void> {
  for (let put = 0; put < messages; put += PART_MESSAGES) {
    await load.fill(target, putMessages(target, Math.min(PART_MESSAGES, messages - put)));
  }
}
