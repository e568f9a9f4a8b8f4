import type { Clock } from "../base/clock.ts";
import type { Schedule } from "../base/schedule.ts";
import { FrontEnd } from "../cluster/front-end.ts";
import { MemberStore } from "../cluster/member-store.ts";
import { Messages } from "../cluster/messages.ts";
import type { PostgresAddress } from "../engine/postgres/address.ts";
import { openPostgresStore, type PostgresStore } from "../engine/postgres/store.ts";
import type { FailStop } from "../store/store.ts";
import { readRecordsAddress, thisProcess } from "./shared-place.ts";
import { OutOfReach, StartError } from "./start-error.ts";
import type { Undo } from "./undo.ts";

/** Opens records that front ends share. A clock is instead of the database's, for tests. Throws a `StartError`. */
export async function openRecords(
  url: string,
  clock?: Clock,
  makesSchema = true,
): Promise<PostgresStore> {
  const address = readRecordsAddress(url);
  try {
    return await openPostgresStore(address, { makesSchema, ...(clock && { clock }) });
  } catch (error) {
    const failure = error as Error & { code?: string };
    const line = `The records cannot be opened at ${address.shown}: ${problemOf(failure, address)}.`;
    throw isOutage(failure) ? new OutOfReach(line) : new StartError(line);
  }
}

/** What a front end needs from its process. */
export interface JoinSurroundings {
  readonly schedule: Schedule;
  /** Called when others have ended this front end. */
  readonly failStop: FailStop;
  /** For tests with a clock that jumps: how long a front end may be out of touch. */
  readonly leaseMs?: number | undefined;
  /**
   * The name of a command that joins the front ends for as long as it works: what it reads is not
   * freed meanwhile. It never leads, and makes no schema.
   */
  readonly guest?: string | undefined;
}

/** This process as one of several front ends. */
export interface Joined {
  readonly frontEnd: FrontEnd;
  readonly store: MemberStore;
  readonly messages: Messages;
}

/** Becomes one of the front ends of these records, until `undo`. */
export async function joinFrontEnds(
  records: PostgresStore,
  { schedule, leaseMs, failStop, guest }: JoinSurroundings,
  undo: Undo,
): Promise<Joined> {
  const { frontEnd: number, clock } = records;
  const mayLead = guest === undefined;
  const setup = { store: records, number, clock, schedule, leaseMs, mayLead, onEnded: failStop };
  const frontEnd = await FrontEnd.join(setup);
  undo.add(() => frontEnd.leave());
  const store = new MemberStore(records, frontEnd);
  const messages = new Messages(store, frontEnd);
  undo.add(async () => messages.close());
  frontEnd.start();
  if (guest !== undefined) frontEnd.introduce({ name: `${guest}, ${thisProcess()}`, address: "" });
  return { frontEnd, store, messages };
}

/** No connection, a server that starts, stops or is full, or one that is not the primary now. */
const OUTAGES =
  /^(E(CONN|HOST|NET|PIPE|TIMED)\w+|ENOENT|ENOTFOUND|EAI_AGAIN|08\w{3}|53\w{3}|57P0[123]|25006)$/;

/** Whether another attempt may succeed, without anybody changing the settings. */
function isOutage({ message, code }: Error & { code?: string }): boolean {
  return code === undefined ? /timeout|^Connection terminated/.test(message) : OUTAGES.test(code);
}

/** What happened and what to do next, in one line. */
function problemOf({ message, code }: Error & { code?: string }, address: PostgresAddress): string {
  switch (code) {
    case "ECONNREFUSED":
    case "ENOENT":
    case "ENOTFOUND":
    case "EAI_AGAIN":
      return `no server answers there (${message}): start it, or check host and port`;
    case "28P01":
    case "28000":
      return `${message}: check user and password`;
    case "3D000":
      return `${message}: create it, or check its name`;
    case "42501":
      return `${message}: let this user create the schema ${address.schema}, or create it for them`;
    case "25006":
      return `${message}: give the address of a primary that takes writes`;
    case "53300":
      return `${message}: permit more connections, or start fewer front ends`;
    default:
      return problemWithoutCode(message);
  }
}

/** The driver gives no code to connections that end without a word of the server. */
function problemWithoutCode(message: string): string {
  if (/timeout/.test(message)) {
    return `no server answers there (${message}): check host and port, and the network between`;
  }
  return /^Connection terminated/.test(message)
    ? "what answers there closes the connection: check that it is PostgreSQL, and its port"
    : message;
}
