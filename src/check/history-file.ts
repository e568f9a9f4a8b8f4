/** What an object is, which decides how it behaves. */
export const HISTORY_KINDS = ["blob", "entity", "queue", "file"] as const;

export type HistoryKind = (typeof HISTORY_KINDS)[number];

/**
 * What a client did. `put` makes or replaces an object, `change` needs one that is there, and the
 * others are called what the protocol calls them. A `batch` is several operations at once.
 */
export const HISTORY_VERBS = [
  "put",
  "change",
  "get",
  "delete",
  "acquire",
  "renew",
  "changeLease",
  "release",
  "break",
  "send",
  "receive",
  "peek",
  "update",
  "remove",
  "clear",
  "batch",
  "open",
  "close",
  "lock",
  "unlock",
] as const;

export type HistoryVerb = (typeof HISTORY_VERBS)[number];

const OBJECT_VERBS: readonly HistoryVerb[] = ["put", "change", "get", "delete"];

/** What can be done to each kind of object. */
const VERBS_OF: Readonly<Record<HistoryKind, readonly HistoryVerb[]>> = {
  blob: [...OBJECT_VERBS, "acquire", "renew", "changeLease", "release", "break"],
  entity: [...OBJECT_VERBS, "batch"],
  queue: ["send", "receive", "peek", "update", "remove", "clear"],
  file: [...OBJECT_VERBS, "open", "close", "lock", "unlock"],
};
const HANDLE_VERBS: readonly unknown[] = ["open", "close", "lock", "unlock"];
const FILE_USES = ["read", "write", "delete"] as const;

/** What an SMB handle may do to a file. */
export type HistoryUse = (typeof FILE_USES)[number];

/** The first byte and the number of bytes. */
export type HistoryRange = readonly [from: number, length: number];

/** One operation of a batch, which happens with all others or not at all. */
export interface HistoryPart {
  readonly object: string;
  readonly verb: HistoryVerb;
  readonly ifMatch?: string | null;
  readonly ifNoneMatch?: string | null;
  readonly etag?: string | null;
  readonly value?: string | null;
}

/** A message in an answer, or the one that was asked about. */
export interface HistoryMessage {
  readonly id: string;
  /** Null if the answer has none. */
  readonly receipt: string | null;
  /** When it becomes visible; null if the answer does not tell. */
  readonly visibleAtMs: number | null;
}

/** An operation of a client. docs/reference/history.md describes each field. */
export interface HistoryOperation {
  readonly client: string;
  readonly kind: HistoryKind;
  readonly object: string;
  readonly verb: HistoryVerb;
  readonly invoked: number;
  /** Null if no answer came. */
  readonly returned: number | null;
  readonly status: number | null;
  readonly code?: string | null;
  readonly etag?: string | null;
  /** Identifies the content that was written or read, such as its MD5; null if it is not known. */
  readonly value?: string | null;
  readonly ifMatch?: string | null;
  readonly ifNoneMatch?: string | null;
  readonly leaseId?: string | null;
  /** How long a lease was asked for; -1 for ever. */
  readonly leaseSeconds?: number | null;
  /** The server's clock at both ends, for leases and messages. */
  readonly fromMs?: number;
  readonly toMs?: number;
  readonly messages?: readonly HistoryMessage[];
  /** The most messages that a receive asked for. */
  readonly max?: number;
  /** The operations of a batch. */
  readonly parts?: readonly HistoryPart[];
  /** The place in `parts` of the one that the answer refuses; null if none, or if it is unknown. */
  readonly refused?: number | null;
  /** The SMB handle that is opened or used; null over REST. */
  readonly handle?: string | null;
  /** What an SMB handle may do, and what it lets others do meanwhile. */
  readonly access?: readonly HistoryUse[];
  readonly share?: readonly HistoryUse[];
  /** The bytes of a file that are written, read or locked. */
  readonly range?: HistoryRange;
  /** Whether a lock excludes other locks; true if it is left out. */
  readonly isExclusive?: boolean;
}

export interface HistoryFile {
  readonly format: typeof HISTORY_FORMAT;
  readonly operations: readonly HistoryOperation[];
  /** How many requests of each operation were not recorded. */
  readonly skipped?: Readonly<Record<string, number>>;
}

export const HISTORY_FORMAT = "lazuli-history/1";

/** Says why a text is no history. */
export class HistoryError extends Error {}

/** Reads a history. Throws a `HistoryError` that names the operation and what is allowed. */
export function readHistory(text: string): HistoryFile {
  let file: Partial<HistoryFile> | null;
  try {
    file = JSON.parse(text);
  } catch (error) {
    throw new HistoryError(`it is no JSON: ${(error as Error).message}`);
  }
  if (file?.format !== HISTORY_FORMAT || !Array.isArray(file.operations)) {
    throw new HistoryError(
      `it must be {"format": "${HISTORY_FORMAT}", "operations": [...]}: see docs/reference/history.md`,
    );
  }
  for (const [at, operation] of file.operations.entries()) requireOperation(operation, at);
  return file as HistoryFile;
}

function requireOperation(given: unknown, at: number): void {
  const operation = (given ?? {}) as Record<string, unknown>;
  const must = (is: boolean, what: string) => {
    if (!is) throw new HistoryError(`operations[${at}]: ${what}`);
  };
  for (const name of ["client", "object"]) {
    must(typeof operation[name] === "string", `${name} must be a text`);
  }
  const { kind, verb, invoked, returned, status } = operation;
  must(
    HISTORY_KINDS.some((one) => one === kind),
    `kind must be ${HISTORY_KINDS.join(", ")}`,
  );
  must(
    HISTORY_VERBS.some((one) => one === verb),
    `verb must be ${HISTORY_VERBS.join(", ")}`,
  );
  must(
    VERBS_OF[kind as HistoryKind].includes(verb as HistoryVerb),
    `${verb} is no verb of a ${kind}`,
  );
  must(Number.isFinite(invoked), "invoked must be a number");
  const isEnd =
    returned === null || (Number.isFinite(returned) && Number(returned) >= Number(invoked));
  must(isEnd, "returned must be a number from invoked on, or null");
  must(
    returned === null ? status === null : Number.isInteger(status),
    "status must be a number, or null if and only if returned is",
  );
  if (verb === "batch") requireParts(operation, must);
  if (kind === "file") requireFileFields(operation, must);
}

type Must = (is: boolean, what: string) => void;

function requireParts({ parts }: Record<string, unknown>, must: Must): void {
  const isPart = (part: Partial<HistoryPart> | null) =>
    typeof part?.object === "string" && OBJECT_VERBS.some((verb) => verb === part.verb);
  must(
    Array.isArray(parts) && parts.length > 0 && parts.every(isPart),
    `parts must be a list of operations, each with object and verb (${OBJECT_VERBS.join(", ")})`,
  );
}

function requireFileFields(operation: Record<string, unknown>, must: Must): void {
  const { verb, handle, range } = operation;
  const isName = typeof handle === "string" && handle !== "";
  must(!HANDLE_VERBS.includes(verb) || isName, "handle must be a text: it names the open file");
  for (const name of verb === "open" ? ["access", "share"] : []) {
    const uses = operation[name];
    must(
      Array.isArray(uses) && uses.every((use) => FILE_USES.includes(use)),
      `${name} must be a list of ${FILE_USES.join(", ")}`,
    );
  }
  const isRange =
    Array.isArray(range) && range.length === 2 && range.every((one) => Number(one) >= 0);
  const needsRange = verb === "lock" || verb === "unlock";
  must(isRange || (range === undefined && !needsRange), "range must be [first byte, length]");
}
