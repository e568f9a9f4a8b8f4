import { answerTo } from "./load.ts";
import {
  createQueue,
  deleteMessage,
  getMessages,
  peekMessages,
  putMessages,
  takeMessages,
} from "./queue-requests.ts";
import type { Bench, Reading } from "./row.ts";
import type { Target } from "./server.ts";

const MILLION = 1_000_000;
const FEW = 10;
/** Got and deleted for a measurement; the backlog is what they leave. */
const TAKEN = 20_000;
/** Requests are signed for 15 minutes: they are made in parts. */
const PART_MESSAGES = 50_000;

interface Costs {
  readonly get: Reading;
  readonly peek: Reading;
  readonly delete: Reading;
}

let measured: Promise<{ few: Costs; million: Costs }> | null = null;

/** By the server's processor time: what the generator and the disk add does not matter here. */
export async function amongMillion(bench: Bench, operation: keyof Costs): Promise<Reading> {
  const { few, million } = await costs(bench);
  return {
    value: million[operation].cpuMicros ?? 0,
    inTheSmall: few[operation].cpuMicros ?? 0,
    note: "CPU per request; small: a backlog of 10",
  };
}

/** All rows want the same messages, which take minutes to write. */
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

/** `backlog` messages are there already, unless they are few. */
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
