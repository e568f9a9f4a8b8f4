import { Fault } from "../base/fault.ts";
import { HISTORY_FORMAT, type HistoryFile, type HistoryOperation } from "../check/history-file.ts";
import { REST_FAULTS } from "../front/rest/fault-status.ts";
import type { RestResponse } from "../front/rest/http/exchange.ts";
import type { LabClock } from "./lab-clock.ts";
import { answerInside, type RecordedAnswer, recordedOperation } from "./recorded-operation.ts";
import type { RestCall } from "./rest-gate.ts";

/** Clients may name themselves with this header. */
export const CLIENT_HEADER = "x-lazuli-client";

const OPERATIONS_MAX = 100_000;
/** SMB has no such status: these tell the checker what was done and what was refused. */
const DONE = 200;
const REFUSED = 409;

interface Begun {
  readonly client: string;
  /** The number of a client without a name; null for one with a name. */
  readonly lane: number | null;
  readonly invoked: number;
  readonly fromMs: number;
}

/** What a recording is about. */
interface Recording {
  /**
   * Whether it has files. Only a scene can: it knows all SMB clients, and what they do over SMB
   * passes no gate.
   */
  readonly hasFiles: boolean;
}

/** An operation over SMB. */
export type RecordedOnFile = Pick<
  HistoryOperation,
  "client" | "object" | "verb" | "handle" | "access" | "share" | "range"
>;

/** Records what clients do to blobs, entities and queues, in the format of the checker. */
export class Recorder {
  readonly #clock: LabClock;
  #isOn = false;
  #hasFiles = false;
  #ticks = 0;
  #operations: HistoryOperation[] = [];
  #skipped: Record<string, number> = {};
  #begun = new Map<RestCall, Begun>();
  /** Numbers of clients with a request under way. */
  readonly #lanes = new Set<number>();
  readonly #operationsMax: number;

  constructor(clock: LabClock, operationsMax = OPERATIONS_MAX) {
    this.#clock = clock;
    this.#operationsMax = operationsMax;
  }

  /** Begins a new recording, in place of an earlier one. */
  start({ hasFiles }: Recording = { hasFiles: false }): void {
    this.#isOn = true;
    this.#hasFiles = hasFiles;
    this.#ticks = 0;
    this.#operations = [];
    this.#skipped = {};
    this.#begun = new Map();
    this.#lanes.clear();
  }

  /** Requests that are under way have no answer in what it returns. */
  stop(): HistoryFile {
    this.#isOn = false;
    return this.history;
  }

  get history(): HistoryFile {
    const open = [...this.#begun].flatMap(
      ([call, begun]) => this.#recorded(call, begun, null) ?? [],
    );
    const operations = [...this.#operations, ...open].toSorted((a, b) => a.invoked - b.invoked);
    return { format: HISTORY_FORMAT, operations, skipped: this.#skipped };
  }

  get shown(): { readonly isOn: boolean; readonly operations: number } {
    return { isOn: this.#isOn, operations: this.#operations.length };
  }

  readonly began = (call: RestCall): void => {
    if (!this.#isOn || this.#operations.length >= this.#operationsMax) return;
    const name = call.request.headers.get(CLIENT_HEADER);
    const lane = name === undefined ? this.#freeLane() : null;
    const fromMs = this.#clock.of(call.seen.account);
    const client = name ?? `client ${lane}`;
    this.#begun.set(call, { client, lane, invoked: this.#ticks++, fromMs });
  };

  readonly ended = (call: RestCall, response: RestResponse | null, error: unknown): void => {
    const begun = this.#begun.get(call);
    if (begun === undefined) return;
    this.#begun.delete(call);
    if (begun.lane !== null) this.#lanes.delete(begun.lane);
    const recorded = this.#recorded(call, begun, answerOf(response, error));
    if (recorded !== null) {
      this.#operations.push(recorded);
      return;
    }
    const { operation } = call.seen;
    this.#skipped[operation] = (this.#skipped[operation] ?? 0) + 1;
  };

  /** Records what a client does over SMB; `ask` does it. */
  async recordOnFile<Answer extends { readonly code: string | null }>(
    asked: RecordedOnFile,
    ask: () => Promise<Answer>,
  ): Promise<Answer> {
    const invoked = this.#ticks++;
    const answer = await ask();
    const { code } = answer;
    const end = { returned: this.#ticks++, status: code === null ? DONE : REFUSED, code };
    this.#operations.push({ ...asked, kind: "file", invoked, ...end });
    return answer;
  }

  #recorded(call: RestCall, begun: Begun, given: RecordedAnswer | null): HistoryOperation | null {
    const answer = given === null ? null : answerInside(call, given);
    const about = recordedOperation(call, answer);
    if (about === null || (about.kind === "file" && !this.#hasFiles)) return null;
    const { client, invoked, fromMs } = begun;
    const end =
      answer === null
        ? { returned: null, status: null }
        : { returned: this.#ticks++, status: answer.status, code: answer.code };
    return { client, ...about, invoked, ...end, fromMs, toMs: this.#clock.of(call.seen.account) };
  }

  #freeLane(): number {
    let lane = 1;
    while (this.#lanes.has(lane)) lane++;
    this.#lanes.add(lane);
    return lane;
  }
}

/** Null if the client got no answer. */
function answerOf(response: RestResponse | null, error: unknown): RecordedAnswer | null {
  if (response === null) {
    if (error === null) return null;
    const { status, code } = error instanceof Fault ? REST_FAULTS[error.code] : FAILURE;
    return { status, code, headers: new Map(), body: "" };
  }
  const headers = new Map<string, string>();
  for (let at = 0; at < response.headers.length; at += 2) {
    headers.set((response.headers[at] ?? "").toLowerCase(), response.headers[at + 1] ?? "");
  }
  const { status, body } = response;
  const text = typeof body === "string" || Buffer.isBuffer(body) ? body.toString("utf8") : "";
  return { status, code: headers.get("x-ms-error-code") ?? null, headers, body: text };
}

const FAILURE = { status: 500, code: "InternalError" };
