import type {
  HistoryMessage,
  HistoryOperation,
  HistoryPart,
  HistoryRange,
  HistoryVerb,
} from "../check/history-file.ts";
import { operationName } from "./operations.ts";
import type { RestCall } from "./rest-gate.ts";

/** An answer, as far as a recording needs it. */
export interface RecordedAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

/** What a request was about, without its times. */
type About = Omit<
  HistoryOperation,
  "client" | "invoked" | "returned" | "status" | "code" | "fromMs" | "toMs"
>;

/** What each operation on a blob does to the blob itself. Others do not change its ETag. */
const BLOB_VERBS: Readonly<Record<string, HistoryVerb>> = {
  PutBlob: "put",
  PutBlobFromUrl: "put",
  PutBlockList: "put",
  CopyBlobFromUrl: "put",
  GetBlob: "get",
  GetBlobProperties: "get",
  GetBlobMetadata: "get",
  DeleteBlob: "delete",
  SetBlobMetadata: "change",
  SetBlobProperties: "change",
  AppendBlock: "change",
  PutPage: "change",
};

const LEASE_VERBS: Readonly<Record<string, HistoryVerb>> = {
  acquire: "acquire",
  renew: "renew",
  change: "changeLease",
  release: "release",
  break: "break",
};

const ENTITY_VERBS: Readonly<Record<string, HistoryVerb>> = {
  InsertEntity: "put",
  InsertOrReplaceEntity: "put",
  InsertOrMergeEntity: "put",
  UpdateEntity: "change",
  MergeEntity: "change",
  DeleteEntity: "delete",
  GetEntity: "get",
};

const QUEUE_VERBS: Readonly<Record<string, HistoryVerb>> = {
  PutMessage: "send",
  GetMessages: "receive",
  PeekMessages: "peek",
  UpdateMessage: "update",
  DeleteMessage: "remove",
  ClearMessages: "clear",
};

/** What each operation over REST does to a file. */
const FILE_VERBS: Readonly<Record<string, HistoryVerb>> = {
  CreateFile: "put",
  PutRange: "change",
  GetFile: "get",
  DeleteFile: "delete",
};

/** Null if the checker has no word for it. `answer` is null if the client got none. */
export function recordedOperation(call: RestCall, answer: RecordedAnswer | null): About | null {
  const { service, seen } = call;
  const { operation } = seen;
  if (service === "file") return fileOperation(call, answer, FILE_VERBS[operation]);
  if (operation === "Batch") return batchOperation(call, answer);
  if (service === "table") return entityOperation(call, answer, ENTITY_VERBS[operation]);
  if (service === "queue") return queueOperation(call, answer, QUEUE_VERBS[operation]);
  if (operation === "LeaseBlob") return leaseOperation(call, answer);
  const isRevision = ["snapshot", "versionid"].some((name) => call.request.query.get(name));
  return isRevision ? null : blobOperation(call, answer, BLOB_VERBS[operation]);
}

function blobOperation(
  call: RestCall,
  answer: RecordedAnswer | null,
  verb: HistoryVerb | undefined,
): About | null {
  const { account, container, object } = call.seen;
  const { headers } = call.request;
  if (verb === undefined || object === "") return null;
  const isDone = answer !== null && answer.status < 300;
  return {
    kind: "blob",
    object: `${account}/${container}/${object}`,
    verb,
    ...conditionsOf(headers),
    leaseId: headers.get("x-ms-lease-id") ?? null,
    etag: isDone ? unquoted(answer.headers.get("etag")) : null,
    value: isDone ? contentOf(call, answer) : (headers.get("content-md5") ?? null),
  };
}

/** The MD5 of the whole blob, which puts and gets of block blobs return. */
function contentOf({ seen, request }: RestCall, { headers }: RecordedAnswer): string | null {
  if (seen.operation === "PutBlob") return headers.get("content-md5") ?? null;
  if (seen.operation !== "GetBlob" && seen.operation !== "GetBlobProperties") return null;
  const ranged = request.headers.get("x-ms-range") ?? request.headers.get("range");
  const name = ranged === undefined ? "content-md5" : "x-ms-blob-content-md5";
  return headers.get(name) ?? null;
}

function leaseOperation(call: RestCall, answer: RecordedAnswer | null): About | null {
  const { account, container, object } = call.seen;
  const { headers } = call.request;
  const verb = LEASE_VERBS[(headers.get("x-ms-lease-action") ?? "").toLowerCase()];
  if (verb === undefined) return null;
  const seconds = Number(headers.get("x-ms-lease-duration") ?? Number.NaN);
  const given = headers.get("x-ms-proposed-lease-id") ?? headers.get("x-ms-lease-id") ?? null;
  const isDone = answer !== null && answer.status < 300;
  return {
    kind: "blob",
    object: `${account}/${container}/${object}`,
    verb,
    ...conditionsOf(headers),
    leaseId: (isDone ? answer.headers.get("x-ms-lease-id") : undefined) ?? given,
    leaseSeconds: Number.isNaN(seconds) ? null : seconds,
    etag: isDone ? unquoted(answer.headers.get("etag")) : null,
  };
}

function entityOperation(
  call: RestCall,
  answer: RecordedAnswer | null,
  verb: HistoryVerb | undefined,
): About | null {
  const { account, operation } = call.seen;
  // The key of an inserted entity is in its body; the answer has its URL.
  const location = answer?.headers.get("location");
  const path =
    operation === "InsertEntity" ? location && new URL(location).pathname : call.request.path;
  const entity = /\/([^/]+\(.*\))$/.exec(path ?? "")?.[1];
  if (verb === undefined || entity === undefined) return null;
  return {
    kind: "entity",
    object: `${account}/${decodeURIComponent(entity)}`,
    verb,
    ...entityConditions(operation, call.request.headers),
    etag: answer === null ? null : (answer.headers.get("etag") ?? null),
  };
}

/** A change set, whose parts happen together; null if it is another batch, or was not read. */
function batchOperation(call: RestCall, answer: RecordedAnswer | null): About | null {
  const { seen, request, parts } = call;
  if (parts === null) return null;
  const isDone = answer !== null && answer.status < 300;
  const refused = parts.findIndex((part) => part.request === refusedIn(call)?.request);
  const answers = request.facts.inner ?? [];
  const asked = parts.map((part, at): HistoryPart => {
    const operation = operationName(part.operation);
    return {
      object: `${seen.account}/${decodeURIComponent(part.object)}`,
      verb: ENTITY_VERBS[operation] ?? "change",
      ...entityConditions(operation, part.request.headers),
      etag: isDone ? headerOf(answers[at]?.response.headers ?? [], "etag") : null,
    };
  });
  const [table = ""] = parts[0]?.object.split("(") ?? [];
  return {
    kind: "entity",
    object: `${seen.account}/${table}`,
    verb: "batch",
    parts: asked,
    refused: refused < 0 ? null : refused,
  };
}

/** The answer to a change set is that to the operation in it that was refused, if there is one. */
export function answerInside(call: RestCall, answer: RecordedAnswer): RecordedAnswer {
  const refused = call.parts === null ? undefined : refusedIn(call);
  if (refused === undefined) return answer;
  const { status, headers } = refused.response;
  return { ...answer, status, code: headerOf(headers, "x-ms-error-code") };
}

function refusedIn({ request }: RestCall) {
  return request.facts.inner?.find(({ response }) => response.status >= 300);
}

/** By its name in lower case, in a list in which each value follows its name. */
function headerOf(headers: readonly string[], name: string): string | null {
  const at = headers.findIndex((one, index) => index % 2 === 0 && one.toLowerCase() === name);
  return headers[at + 1] ?? null;
}

/** An insert needs an entity that is not there. */
function entityConditions(operation: string, headers: { get(name: string): string | undefined }) {
  const conditions = conditionsOf(headers);
  return operation === "InsertEntity" ? { ...conditions, ifNoneMatch: "*" } : conditions;
}

function fileOperation(
  { seen, request }: RestCall,
  answer: RecordedAnswer | null,
  verb: HistoryVerb | undefined,
): About | null {
  const { account, container, object } = seen;
  if (verb === undefined || object === "") return null;
  const { headers } = request;
  const range = rangeOf(headers.get("x-ms-range") ?? headers.get("range"));
  const isDone = answer !== null && answer.status < 300;
  return {
    kind: "file",
    object: `${account}/${container}/${object}`,
    verb,
    handle: null,
    etag: isDone ? unquoted(answer.headers.get("etag")) : null,
    ...(range === null ? {} : { range }),
  };
}

/** `bytes=0-15` */
function rangeOf(text: string | undefined): HistoryRange | null {
  const [, from, to] = /^bytes=(\d+)-(\d+)$/.exec(text ?? "") ?? [];
  return to === undefined ? null : [Number(from), Number(to) - Number(from) + 1];
}

function queueOperation(
  { seen, request }: RestCall,
  answer: RecordedAnswer | null,
  verb: HistoryVerb | undefined,
): About | null {
  if (verb === undefined) return null;
  const { account, container } = seen;
  const about = { kind: "queue", object: `${account}/${container}`, verb } as const;
  const max = Number(request.query.get("numofmessages") ?? 1);
  if (verb === "update" || verb === "remove") {
    const id = decodeURIComponent(request.path.split("/").at(-1) ?? "");
    const receipt = answer?.headers.get("x-ms-popreceipt") ?? null;
    const visibleAtMs = timeOf(answer?.headers.get("x-ms-time-next-visible"));
    const value = request.query.get("popreceipt") ?? null;
    return { ...about, value, messages: [{ id, receipt, visibleAtMs }] };
  }
  return { ...about, max, messages: messagesIn(answer?.body ?? "") };
}

function messagesIn(xml: string): HistoryMessage[] {
  return [...xml.matchAll(/<QueueMessage>(.*?)<\/QueueMessage>/gs)].map(([, text = ""]) => {
    const field = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(text)?.[1];
    return {
      id: field("MessageId") ?? "",
      receipt: field("PopReceipt") ?? null,
      visibleAtMs: timeOf(field("TimeNextVisible")),
    };
  });
}

function timeOf(text: string | undefined): number | null {
  const instant = Date.parse(text ?? "");
  return Number.isNaN(instant) ? null : instant;
}

function conditionsOf(headers: { get(name: string): string | undefined }) {
  return {
    ifMatch: unquoted(headers.get("if-match")),
    ifNoneMatch: unquoted(headers.get("if-none-match")),
  };
}

/** Clients send ETags with quotes or without. */
function unquoted(etag: string | undefined): string | null {
  return etag === undefined ? null : etag.replace(/^"(.*)"$/, "$1");
}
