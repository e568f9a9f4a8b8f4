import type { ServerResponse } from "node:http";
import type { NewRequests } from "./answers.ts";
import type { ConsoleFacts } from "./console-facts.ts";
import { holdersFor } from "./holders-for.ts";
import type { RequestRing } from "./request-ring.ts";
import type { Session } from "./sessions.ts";
import { visibleTo } from "./visible-to.ts";

/** Each event, and how often it is sent. */
const INTERVALS_MS = { requests: 250, holders: 1_000, figures: 1_000 } as const;

export type EventName = keyof typeof INTERVALS_MS;
export const EVENT_NAMES = Object.keys(INTERVALS_MS) as EventName[];

/** Requests in one event. Of more, the last ones are shown. */
const REQUESTS_MAX = 200;
/** A page that does not read is cut off when this much waits for it. */
const UNREAD_BYTES_MAX = 4 * 1024 * 1024;
/** Between two comments that keep a silent stream open. */
const KEEP_ALIVE_MS = 15_000;

export interface EventSource {
  readonly ring: RequestRing;
  readonly facts: ConsoleFacts;
  onError(error: unknown): void;
}

/** Server-sent events for one page, until it goes away. */
export class EventStream {
  readonly #response: ServerResponse;
  readonly #source: EventSource;
  readonly #session: Session;
  readonly #timers: NodeJS.Timeout[] = [];
  #last: number;
  #holders = "";

  constructor(
    response: ServerResponse,
    names: readonly EventName[],
    session: Session,
    source: EventSource,
  ) {
    this.#response = response;
    this.#source = source;
    this.#session = session;
    this.#last = source.ring.last;
    response.writeHead(200, {
      "Content-Type": "text/event-stream",
      "Cache-Control": "no-store",
      "X-Content-Type-Options": "nosniff",
    });
    response.write(": begin\n\n");
    response.once("close", () => this.#stop());
    const sends: Record<EventName, () => void | Promise<void>> = {
      requests: () => this.#sendRequests(),
      holders: () => this.#sendHolders(),
      figures: () => this.#sendFigures(),
    };
    for (const name of names) this.#repeat(INTERVALS_MS[name], sends[name]);
    this.#timers.push(setInterval(() => this.#write(": here\n\n"), KEEP_ALIVE_MS).unref());
  }

  end(): void {
    this.#stop();
    this.#response.end();
  }

  #stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
    this.#timers.length = 0;
  }

  /** Skips a turn while the one before is still busy. */
  #repeat(ms: number, send: () => void | Promise<void>): void {
    let isBusy = false;
    const step = async () => {
      if (isBusy) return;
      isBusy = true;
      try {
        await send();
      } catch (error) {
        this.#source.onError(error);
        this.end();
      } finally {
        isBusy = false;
      }
    };
    void step();
    this.#timers.push(setInterval(step, ms).unref());
  }

  #sendRequests(): void {
    const { ring } = this.#source;
    if (ring.last === this.#last) return;
    const news = ring.after(this.#last, REQUESTS_MAX);
    const skipped = ring.last - this.#last - news.length;
    this.#last = ring.last;
    const requests = news.filter(visibleTo(this.#session));
    const sent: NewRequests = { requests, skipped };
    if (requests.length > 0) this.#send("requests", JSON.stringify(sent));
  }

  async #sendHolders(): Promise<void> {
    const { facts, ring } = this.#source;
    const shown = holdersFor(this.#session, await facts.holders(), ring);
    const text = JSON.stringify(shown.holders);
    if (text === this.#holders) return;
    this.#holders = text;
    this.#send("holders", JSON.stringify(shown));
  }

  async #sendFigures(): Promise<void> {
    this.#send("figures", JSON.stringify(await this.#source.facts.figures()));
  }

  #send(name: EventName, json: string): void {
    this.#write(`event: ${name}\ndata: ${json}\n\n`);
  }

  #write(text: string): void {
    if (this.#response.destroyed) this.#stop();
    else if (this.#response.writableLength > UNREAD_BYTES_MAX) this.#response.destroy();
    else this.#response.write(text);
  }
}
