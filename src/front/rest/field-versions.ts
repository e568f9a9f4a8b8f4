import type { RestResponse } from "./http/exchange.ts";
import { withoutElements } from "./xml/without-elements.ts";

/** Response fields that the service introduced in one version. */
export interface FieldsSince<Operation extends string> {
  readonly since: string;
  /** The operations whose responses have these fields. */
  readonly of: readonly Operation[] | "all";
  readonly headers?: readonly string[];
  /** Paths of elements, such as `Share/Properties/LeaseStatus`. */
  readonly elements?: readonly string[];
}

const NONE: ReadonlySet<string> = new Set();

/** Response fields that the version of a request does not have yet. */
export class HiddenFields {
  readonly #headers: ReadonlySet<string>;
  readonly #elements: ReadonlySet<string>;

  constructor(rows: readonly FieldsSince<string>[]) {
    this.#headers = setOf(rows.flatMap(({ headers = [] }) => headers));
    this.#elements = setOf(rows.flatMap(({ elements = [] }) => elements));
  }

  /**
   * Removes hidden fields from a response. Long documents are filtered while they are written
   * (`XmlBytes`), short ones here.
   */
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
    const remaining: string[] = [];
    for (let at = 0; at < headers.length; at += 2) {
      const name = headers[at] as string;
      if (!this.#headers.has(name)) remaining.push(name, headers[at + 1] as string);
    }
    return remaining;
  }
}

function setOf(names: readonly string[]): ReadonlySet<string> {
  return names.length === 0 ? NONE : new Set(names);
}

/** The fields hidden from versions before `since`, down to the `since` of the next step. */
interface Step {
  readonly since: string;
  /** By operation; "all" applies to operations without fields of their own. */
  readonly hidden: ReadonlyMap<string, HiddenFields>;
}

/**
 * Finds the fields to hide from a response, by version and operation. Versions are dates, so they
 * compare as text.
 */
export class FieldVersions<Operation extends string> {
  /** Newest first, so that current versions check one or two steps. */
  readonly #steps: readonly Step[];

  constructor(rows: readonly FieldsSince<Operation>[]) {
    const dates = [...new Set(rows.map(({ since }) => since))].sort().reverse();
    this.#steps = dates.map((since) => ({
      since,
      hidden: hiddenBefore(rows.filter((row) => row.since >= since)),
    }));
  }

  /** Returns null if this version has every field of the operation. */
  hiddenFrom(version: string, operation: Operation): HiddenFields | null {
    let oldest: Step | null = null;
    for (const step of this.#steps) {
      if (version >= step.since) break;
      oldest = step;
    }
    if (oldest === null) return null;
    return oldest.hidden.get(operation) ?? oldest.hidden.get("all") ?? null;
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
