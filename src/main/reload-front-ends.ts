import type { Schedule } from "../base/schedule.ts";
import type { FrontEndSeen } from "../cluster/front-end.ts";
import { decodeMessage, encodeMessage } from "../service/file/peer-messages.ts";
import { isUnreachable } from "../store/store.ts";
import type { ReloadedMessage, ReloadMessage } from "./hear-reload.ts";
import { type Joined, joinFrontEnds, openRecords } from "./open-records.ts";
import type { ReloadDone } from "./reload.ts";
import { OutOfReach, StartError } from "./start-error.ts";
import { Undo } from "./undo.ts";

/** Longer than fetching the keys of a token issuer may take. */
const ANSWER_MS_MAX = 60_000;

/** What became of the reload of one front end. */
export interface FrontEndReloaded extends ReloadDone {
  readonly frontEnd: FrontEndSeen;
}

/**
 * Makes all front ends that share these records reload, each from its own files. Resolves to what
 * they say. Throws a `StartError`.
 */
export async function reloadFrontEnds(
  url: string,
  { schedule }: { readonly schedule: Schedule },
): Promise<readonly FrontEndReloaded[]> {
  const undo = new Undo();
  try {
    const records = await openRecords(url, undefined, false);
    undo.add(() => records.close());
    return await new Promise((resolve, reject) => {
      const joined = joinFrontEnds(records, { schedule, failStop: reject, guest: NAME }, undo);
      joined.then((member) => askAll(member, schedule, undo)).then(resolve, reject);
    });
  } catch (error) {
    throw isUnreachable(error) ? new OutOfReach(`${(error as Error).message}.`) : error;
  } finally {
    await undo.run();
  }
}

async function askAll(
  { frontEnd, messages, store }: Joined,
  schedule: Schedule,
  undo: Undo,
): Promise<FrontEndReloaded[]> {
  // Other commands that work on these records have no address.
  const asked = (await frontEnd.members()).filter(({ address }) => address !== "");
  if (asked.length === 0) throw new StartError("No front end runs on these records.");
  const answers = new Map<number, ReloadDone>();
  const answered = new Promise<void>((resolve) => {
    const timer = schedule(resolve, ANSWER_MS_MAX);
    undo.add(async () => timer.cancel());
    messages.listen((message) => {
      const told = decodeMessage(message) as ReloadedMessage;
      answers.set(told.frontEnd, told);
      if (asked.every(({ number }) => answers.has(number))) resolve();
    });
  });
  const question: ReloadMessage = { kind: "reload", epoch: frontEnd.epoch };
  await store.transact((tx) => {
    for (const { epoch } of asked) messages.post(tx, epoch, encodeMessage(question));
  });
  await answered;
  return asked.map((one) => {
    const { isReloaded, line } = answers.get(one.number) ?? SILENT;
    return { frontEnd: one, isReloaded, line };
  });
}

const NAME = "lazuli reload";
const SILENT: ReloadDone = {
  isReloaded: false,
  line: "It has not answered. Look whether it runs, and send it SIGHUP.",
};
