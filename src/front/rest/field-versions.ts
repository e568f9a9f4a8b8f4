import type { RestResponse } from "./http/exchange.ts";
import { withoutElements } from "./xml/without-elements.ts";

/** Fields of answers that the service began to send in one version. */
export interface FieldsSince<Operation extends string> {
  readonly since: string;
  /** The operations that answer with them. */
  readonly of: readonly Operation[] | "all";
  readonly headers?: readonly string[];
  /** Paths of elements, such as `Share/Properties/LeaseStatus`. */
  readonly elements?: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Fields of an operation's answer that clients of the request's version do not know. */
export class HiddenFields {
  readonly #headers: ReadonlySet<string>;
  readonly #elements: ReadonlySet<string>;

  constructor(rows: readonly FieldsSince<string>[]) {
    this.#headers = setOf(rows.flatMap(({ headers = [] }) => headers));
    this.#elements = setOf(rows.flatMap(({ elements = [] }) => elements));
  }

  /** Long documents are cut while they are written (`XmlBytes`), short ones here. */
  answerWithout({ status, headers, body }: RestResponse): RestResponse {
    return {
      status,
      headers: this.#headersWithout(headers),
      body: typeof body === "string" ? this.xmlWithout(body) : body,
    };
  }

  xmlWithout(xml: string): string {
    return this.#elements === NONE ? xml : withoutElements(xml, this.#elements);
  }

  #headersWithout(headers: string[]): string[] {
    if (this.#headers === NONE) return headers;
    const kept: string[] = [];
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string;
      if (!this.#headers.has(name)) kept.push(name, headers[at + 1] as string);
    }
    return kept;
  }
}

function setOf(names: readonly string[]): ReadonlySet<string> {
  return names.length === 0 ? NONE : new Set(names);
}

/** What is hidden from versions before `since`, down to the `since` of the next step. */
interface Step {
  readonly since: string;
  /** By operation; "all" stands for those that have no fields of their own. */
  readonly hidden: ReadonlyMap<string, HiddenFields>;
}

/**
 * The table of a service, made ready to be asked once for each request. Versions are dates, so they
 * compare as text.
 */
export class FieldVersions<Operation extends string> {
  /** Newest first: current versions pass one or two of them. */
  readonly #steps: readonly Step[];

  constructor(rows: readonly FieldsSince<Operation>[]) {
    const dates = [...new Set(rows.map(({ since }) => since))].sort().reverse();
    this.#steps = dates.map((since) => ({
      since,
      hidden: hiddenBefore(rows.filter((row) => row.since >= since)),
    }));
  }

  /** Null if a client of this version knows all that the operation answers. */
  hiddenFrom(version: string, operation: Operation): HiddenFields | null {
    let passed: Step | null = null;
    for (const step of this.#steps) {
      if (version >= step.since) break;
      passed = step;
    }
    if (passed === null) return null;
    return passed.hidden.get(operation) ?? passed.hidden.get("all") ?? null;
  }
}

function hiddenBefore(rows: readonly FieldsSince<string>[]): Map<string, HiddenFields> {
  const common = rows.filter(({ of }) => of === "all");
  const operations = new Set(rows.flatMap(({ of }) => (of === "all" ? [] : of)));
  const hidden = new Map<string, HiddenFields>();
  if (common.length > 0) hidden.set("all", new HiddenFields(common));
  for (const operation of operations) {
    const own = rows.filter(({ of }) => of === "all" || of.includes(operation));
    hidden.set(operation, new HiddenFields(own));
  }
  return hidden;
}
