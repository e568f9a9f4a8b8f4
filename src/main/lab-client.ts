/** A service of the server. */
export type LabService = "blob" | "queue" | "table" | "file" | "dfs" | "smb";

/**
 * Where a rule acts: when the request has arrived, when it has read what it decides on, when its
 * write is decided and not committed, or when all is done and the answer has not been sent.
 */
export type LabPoint = "arrival" | "read" | "commit" | "answer";

/** Which requests a rule is about. Fields that are left out match everything. */
export interface LabMatch {
  /** Without one, a rule is about requests over REST. */
  readonly service?: LabService;
  /** `PutBlob`, as the access log writes it. */
  readonly operation?: string;
  readonly method?: string;
  readonly account?: string;
  /** Container, queue, table or share; `*` stands for any characters. */
  readonly container?: string;
  /** Blob, or path of a file; `*` stands for any characters. */
  readonly object?: string;
  readonly clientRequestId?: string;
  /** Headers by name; `*` stands for any characters. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** A request of a third party, done with an account SAS of the server. */
export interface LabThirdParty {
  readonly service?: Exclude<LabService, "smb">;
  readonly account?: string;
  readonly method: string;
  /** Behind the account, percent-encoded: `/box/doc.txt?comp=metadata`. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** A rule: which requests, where, and one effect. */
export interface LabRule extends LabMatch {
  readonly at?: LabPoint;
  /** How many requests it acts on (default 1). */
  readonly times?: number | "always";
  /** How many matching requests pass before. */
  readonly skip?: number;
  /** The part of the matching requests that it acts on, above 0 and up to 1. */
  readonly chance?: number;

  /** Answer with this status, or this error code; over SMB `STATUS_ACCESS_DENIED` and the like. */
  readonly answer?: 409 | 412 | 429 | 500 | 503 | (string & {});
  /** The Retry-After of this answer, in seconds. */
  readonly retryAfter?: number;
  /** Cut the connection. */
  readonly drop?: true;
  /** Wait: `"500ms"`. */
  readonly delay?: string;
  /** Cut the connection after so many bytes of the answer's body. */
  readonly truncate?: number;
  /** Send the body of the answer with so many bytes a second. */
  readonly slow?: number;
  /** Hold the request until it is released. */
  readonly hold?: true;
  /** When a held request goes on by itself (default `"30s"`). */
  readonly timeout?: string;
  /** Do another request first. */
  readonly run?: LabThirdParty;
}

/** What came of a rule so far. */
export interface LabRuleState {
  readonly id: number;
  readonly at: LabPoint;
  readonly matched: number;
  readonly acted: number;
  /** What third parties were answered, and which requests nobody released. */
  readonly notes: readonly string[];
}

/** A request that a rule holds. */
export interface LabWaiting {
  readonly id: number;
  readonly rule: number;
  readonly at: LabPoint;
  readonly service: LabService;
  readonly operation: string;
  /** "" over SMB. */
  readonly method: string;
  readonly account: string;
  readonly container: string;
  readonly object: string;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly waitedMs: number;
}

export interface LabClockState {
  readonly now: string;
  readonly isFrozen: boolean;
  readonly aheadMs: number;
}

export interface LabClocks {
  readonly server: LabClockState;
  /** Of the accounts that have a clock of their own. */
  readonly accounts: Readonly<Record<string, LabClockState>>;
}

/** What clients did, as `lazuli check` reads it: see docs/reference/history.md. */
export interface LabHistory {
  readonly format: string;
  readonly operations: readonly Readonly<Record<string, unknown>>[];
  readonly skipped?: Readonly<Record<string, number>>;
}

/** What came of a scene. */
export interface LabScene {
  readonly title: string;
  readonly history: LabHistory;
  readonly verdicts: readonly {
    readonly object: string;
    readonly verdict: "explained" | "unexplained" | "undecided";
    readonly order: LabHistory["operations"];
    readonly why: string | null;
  }[];
  /** A picture of it. */
  readonly svg: string;
}

/** A rule that is set. */
export interface LabRuleHandle {
  readonly id: number;
  /** Resolves with the requests that wait here once there are `count` (default 1). */
  reached(count?: number, timeout?: string): Promise<readonly LabWaiting[]>;
  /** Lets go whom it holds. Resolves with how many these were. */
  release(): Promise<number>;
  state(): Promise<LabRuleState>;
  remove(): Promise<void>;
}

/** The lab of a server that was started with `--lab`, or with `start({ lab: true })`. */
export class Lab {
  readonly #url: string;

  /** The URL that the server printed, or the server that `start` returned. */
  constructor(at: string | { readonly labUrl: string | null } = "http://127.0.0.1:10006") {
    const url = typeof at === "string" ? at : at.labUrl;
    if (url === null) throw new Error("This server has no lab: start it with lab: true.");
    this.#url = url.replace(/\/$/, "");
  }

  clocks(): Promise<LabClocks> {
    return this.#ask("GET", "/clock");
  }

  /** Moves a clock: `"20s"`, `"-1h"`. Without an account it is the server's. */
  move(by: string, account?: string): Promise<LabClocks> {
    return this.#change({ move: by }, account);
  }

  /** Sets a clock to a time in UTC. */
  set(to: string | Date, account?: string): Promise<LabClocks> {
    return this.#change({ set: typeof to === "string" ? to : to.toISOString() }, account);
  }

  /** Stops a clock where it is. It can still be moved and set. */
  freeze(account?: string): Promise<LabClocks> {
    return this.#change({ freeze: true }, account);
  }

  /** Lets a clock run on from where it is. */
  resume(account?: string): Promise<LabClocks> {
    return this.#change({ resume: true }, account);
  }

  /** Takes a clock back to the time of the machine; an account's, to that of the server. */
  resetClock(account?: string): Promise<LabClocks> {
    return this.#change({ reset: true }, account);
  }

  async rule(rule: LabRule): Promise<LabRuleHandle> {
    const { id } = await this.#ask<LabRuleState>("POST", "/rules", rule);
    return {
      id,
      reached: (count = 1, timeout = "10s") =>
        this.#ask("GET", `/waiting?rule=${id}&count=${count}&timeout=${timeout}`),
      release: async () => {
        const { released } = await this.#ask<{ released: number }>("POST", "/release", {
          rule: id,
        });
        return released;
      },
      state: () => this.#ask("GET", `/rules/${id}`),
      remove: () => this.#ask("DELETE", `/rules/${id}`),
    };
  }

  rules(): Promise<readonly LabRuleState[]> {
    return this.#ask("GET", "/rules");
  }

  /** Removes all rules, and lets go whom they hold. */
  async clearRules(): Promise<void> {
    await this.#ask("DELETE", "/rules");
  }

  /** The requests that wait now. */
  waiting(): Promise<readonly LabWaiting[]> {
    return this.#ask("GET", "/waiting");
  }

  /** Removes all rules; the chances of later ones repeat with the same seed. */
  async seed(seed: number): Promise<void> {
    await this.#ask("POST", "/seed", { seed });
  }

  /** Saves all data and clocks of a server in memory. */
  async save(name: string): Promise<void> {
    await this.#ask("POST", `/states/${encodeURIComponent(name)}`);
  }

  /** Goes back to a saved state, without rules. */
  async restore(name: string): Promise<void> {
    await this.#ask("POST", `/states/${encodeURIComponent(name)}/restore`);
  }

  /** Removes a saved state. */
  async forget(name: string): Promise<void> {
    await this.#ask("DELETE", `/states/${encodeURIComponent(name)}`);
  }

  /** Goes back to an empty server by the machine's clock, without rules. */
  async reset(): Promise<void> {
    await this.#ask("POST", "/reset");
  }

  /** Begins to record what clients do. */
  async startRecording(): Promise<void> {
    await this.#ask("POST", "/recording");
  }

  stopRecording(): Promise<LabHistory> {
    return this.#ask("DELETE", "/recording");
  }

  /** Lets clients play a scene: `lost-update`, `lease-expiry`, … */
  scene(name: string, options: { clients?: number; account?: string } = {}): Promise<LabScene> {
    return this.#ask("POST", `/scenes/${encodeURIComponent(name)}`, options);
  }

  #change(change: object, account: string | undefined): Promise<LabClocks> {
    return this.#ask("POST", "/clock", account === undefined ? change : { ...change, account });
  }

  async #ask<T>(method: string, path: string, body?: object): Promise<T> {
    const sent = body === undefined ? {} : { body: JSON.stringify(body) };
    const answer = await fetch(`${this.#url}${path}`, { method, ...sent });
    const found = (await answer.json()) as { readonly error?: string };
    if (!answer.ok) throw new Error(`The lab refused ${method} ${path}: ${found.error}`);
    return found as T;
  }
}
