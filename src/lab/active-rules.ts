import { LabError } from "./lab-error.ts";
import type { Match, Point, Rule, RuleService } from "./rule.ts";
import { SeededRandom } from "./seeded-random.ts";

/** A request as rules see it. */
export interface SeenRequest {
  readonly service: RuleService;
  /** `PutBlob` */
  readonly operation: string;
  /** "" over SMB. */
  readonly method: string;
  readonly account: string;
  readonly container: string;
  readonly object: string;
  readonly requestId: string;
  readonly clientRequestId: string | null;
  readonly headers: { get(name: string): string | undefined };
}

/** A rule that was given to the lab, and what came of it so far. */
export interface ActiveRule {
  readonly id: number;
  readonly rule: Rule;
  /** As it was asked for. */
  readonly asked: unknown;
  /** How many requests matched at the rule's point. */
  matched: number;
  /** How many of them it acted on. */
  acted: number;
  /** Problems, such as a request of a third party that was refused; and their answers. */
  readonly notes: string[];
  readonly random: SeededRandom;
  /** Whether it acts no more. */
  isRemoved: boolean;
}

const NOTES_MAX = 100;
const RULES_MAX = 1_000;

/** The rules of a lab. They act in the order in which they were given. */
export class ActiveRules {
  #rules: ActiveRule[] = [];
  #lastId = 0;
  #seed = 0;

  get all(): readonly ActiveRule[] {
    return this.#rules;
  }

  get seed(): number {
    return this.#seed;
  }

  add(rule: Rule, asked: unknown): ActiveRule {
    if (this.#rules.length >= RULES_MAX) {
      throw new LabError(`There are ${RULES_MAX} rules already: remove some.`, 409);
    }
    const id = ++this.#lastId;
    const random = new SeededRandom(this.#seed, id);
    const unused = { matched: 0, acted: 0, notes: [], isRemoved: false };
    const added: ActiveRule = { id, rule, asked, random, ...unused };
    this.#rules.push(added);
    return added;
  }

  find(id: number): ActiveRule {
    const found = this.#rules.find((rule) => rule.id === id);
    if (found !== undefined) return found;
    const ids = this.#rules.map((rule) => rule.id).join(", ");
    throw new LabError(
      `There is no rule ${id}. ${ids === "" ? "None is set" : `There are ${ids}`}.`,
      404,
    );
  }

  remove(id: number): void {
    const found = this.find(id);
    found.isRemoved = true;
    this.#rules = this.#rules.filter((rule) => rule !== found);
  }

  /** Removes all, and numbers them from 1 again. The same seed then makes the same choices again. */
  clear(seed = this.#seed): void {
    for (const active of this.#rules) active.isRemoved = true;
    this.#rules = [];
    this.#lastId = 0;
    this.#seed = seed;
  }

  /** Whether a rule may act on this request at this point. */
  mayAct(point: Point, request: SeenRequest, acted: ReadonlySet<number>): boolean {
    return this.#rules.some(
      (active) => !acted.has(active.id) && isOpen(active) && isMatch(active, point, request),
    );
  }

  /**
   * The next rule that acts on this request here; null if there is none. A request meets each rule
   * once, and `met` keeps which ones.
   */
  next(point: Point, request: SeenRequest, met: Set<number>): ActiveRule | null {
    for (const active of this.#rules) {
      if (met.has(active.id) || !isOpen(active) || !isMatch(active, point, request)) continue;
      met.add(active.id);
      active.matched++;
      const { skip, chance } = active.rule;
      if (active.matched <= skip) continue;
      if (chance < 1 && active.random.next() >= chance) continue;
      active.acted++;
      return active;
    }
    return null;
  }
}

export function note(active: ActiveRule, text: string): void {
  if (active.notes.length < NOTES_MAX) active.notes.push(text);
}

function isOpen({ rule, acted }: ActiveRule): boolean {
  return rule.times === null || acted < rule.times;
}

function isMatch({ rule }: ActiveRule, point: Point, request: SeenRequest): boolean {
  if (rule.at !== point) return false;
  const { match } = rule;
  return (
    isOf(match.service, request.service) &&
    isSame(match.operation, request.operation) &&
    isSame(match.method, request.method) &&
    isSame(match.account, request.account) &&
    fits(match.container, request.container) &&
    fits(match.object, request.object) &&
    fits(match.clientRequestId, request.clientRequestId ?? "") &&
    haveHeaders(match, request)
  );
}

/** Answers of SMB are none of REST: a rule without a service is about REST. */
function isOf(wanted: RuleService | undefined, actual: RuleService): boolean {
  return wanted === undefined ? actual !== "smb" : wanted === actual;
}

function isSame(wanted: string | undefined, actual: string): boolean {
  return wanted === undefined || wanted === actual;
}

function haveHeaders({ headers = {} }: Match, request: SeenRequest): boolean {
  return Object.entries(headers).every(([name, pattern]) => {
    const value = request.headers.get(name);
    return value !== undefined && fits(pattern, value);
  });
}

/** Whether a text fits a pattern in which `*` stands for any characters. */
export function fits(pattern: string | undefined, text: string): boolean {
  if (pattern === undefined) return true;
  const [first = "", ...rest] = pattern.split("*");
  const last = rest.pop();
  if (last === undefined) return text === first;
  if (!text.startsWith(first)) return false;
  let at = first.length;
  for (const part of rest) {
    const found = text.indexOf(part, at);
    if (found < 0) return false;
    at = found + part.length;
  }
  return text.length - at >= last.length && text.endsWith(last);
}
