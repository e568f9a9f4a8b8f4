import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import type { SasKind } from "../src/front/rest/auth/sas-fields.ts";

/** What a service SAS can be for. */
export type SasTarget =
  | "blob"
  | "snapshot"
  | "version"
  | "container"
  | "directory"
  | "queue"
  | "table"
  | "share"
  | "file";

export interface TargetWords {
  readonly title: string;
  readonly service: ServiceName;
  /** `sr`; queues and tables have none. */
  readonly sr: string | null;
  /** What its first name is: a container, share, queue or table. */
  readonly holder: string;
  /** What its second name is, if it has one. */
  readonly name: string | null;
  /** Letters that make sense for it, in the order in which Azure wants them. */
  readonly letters: string;
}

export const TARGETS: Readonly<Record<SasTarget, TargetWords>> = {
  blob: target("Blob", "blob", "b", "Container", "Blob", "racwdxytmeop"),
  snapshot: target("Snapshot of a blob", "blob", "bs", "Container", "Blob", "rdy"),
  version: target("Version of a blob", "blob", "bv", "Container", "Blob", "rdxyt"),
  container: target("Container", "blob", "c", "Container", null, "racwdxyltfmeop"),
  directory: target("Directory (Data Lake)", "dfs", "d", "Container", "Directory", "racwdlmeop"),
  queue: target("Queue", "queue", null, "Queue", null, "raup"),
  table: target("Table", "table", null, "Table", null, "raud"),
  share: target("Share", "file", "s", "Share", null, "rcwdl"),
  file: target("File", "file", "f", "Share", "File", "rcwd"),
};

function target(
  title: string,
  service: ServiceName,
  sr: string | null,
  holder: string,
  name: string | null,
  letters: string,
): TargetWords {
  return { title, service, sr, holder, name, letters };
}

/** Letters of an account SAS, in the order in which Azure wants them. */
export const ACCOUNT_LETTERS = "rwdxylacuptfm";

const LETTERS: Readonly<Record<string, string>> = {
  r: "read contents, properties and metadata",
  a: "add blocks to an append blob",
  c: "create what does not exist",
  w: "create and overwrite, set properties and metadata, lease",
  d: "delete",
  x: "delete an earlier version",
  y: "delete for good what is soft-deleted",
  l: "list",
  t: "read and set tags",
  f: "find by tags",
  m: "move: rename or replace",
  e: "execute: pass through directories, read ACLs",
  o: "set owner and group",
  p: "set permissions and ACLs",
};

const QUEUE_LETTERS: Readonly<Record<string, string>> = {
  r: "peek at messages, read metadata",
  a: "add messages",
  u: "update messages",
  p: "process: get and delete messages",
};

const TABLE_LETTERS: Readonly<Record<string, string>> = {
  r: "query entities",
  a: "add entities",
  u: "update entities",
  d: "delete entities",
};

const WHOLE_ACCOUNT: Readonly<Record<string, string>> = {
  ...LETTERS,
  a: "add messages, entities and blocks of append blobs",
  u: "update messages and entities",
  p: "process: get and delete messages",
};

/** What a letter of `sp` permits; null if it means nothing there. */
export function letterText(kind: SasKind, service: ServiceName, letter: string): string | null {
  const words =
    kind === "accountSas"
      ? WHOLE_ACCOUNT
      : service === "queue"
        ? QUEUE_LETTERS
        : service === "table"
          ? TABLE_LETTERS
          : LETTERS;
  return words[letter] ?? null;
}

export const SERVICES_OF_ACCOUNT: readonly (readonly [letter: string, text: string])[] = [
  ["b", "blobs, Data Lake too"],
  ["q", "queues"],
  ["t", "tables"],
  ["f", "files"],
];

export const TYPES_OF_ACCOUNT: readonly (readonly [letter: string, text: string])[] = [
  ["s", "service: its properties, lists of containers, queues, tables and shares"],
  ["c", "containers, queues, tables and shares themselves, and lists of what is in them"],
  ["o", "objects: blobs, messages, entities and files"],
];

const RESOURCES: Readonly<Record<string, string>> = {
  b: "one blob",
  bs: "one snapshot of a blob",
  bv: "one version of a blob",
  c: "a container and all blobs in it",
  d: "a directory and everything below it",
  s: "a share and all files in it",
  f: "one file",
  q: "a queue",
  t: "a table",
};

export function resourceText(sr: string): string {
  return RESOURCES[sr] ?? "nothing that is known";
}

/** What each field is, for the builder and for the explanation. */
export const FIELD_WORDS: Readonly<Record<string, string>> = {
  sv: "The version of the rules by which it is signed and read.",
  ss: "The services of the account that it opens.",
  srt: "The types of resources that it opens.",
  sp: "What it permits.",
  st: "Valid from then on. Without it, at once.",
  se: "Valid until then.",
  sip: "Only requests from this IPv4 address, or range of addresses.",
  spr: "Only over these protocols.",
  si: "A stored access policy of the container, queue, table or share. It can be changed or removed later, which changes or ends this SAS.",
  sr: "The type of resource that it is for.",
  sdd: "How many directories deep the directory is.",
  ses: "The encryption scope of what it writes. This server has none.",
  sig: "The signature: an HMAC-SHA-256 by the account key, or by a user delegation key.",
  tn: "The table that it is for.",
  spk: "The first partition that it opens.",
  srk: "The first row, within the first partition.",
  epk: "The last partition that it opens.",
  erk: "The last row, within the last partition.",
  rscc: "Cache-Control of answers to reads.",
  rscd: "Content-Disposition of answers to reads: attachment; filename=… makes browsers save it.",
  rsce: "Content-Encoding of answers to reads.",
  rscl: "Content-Language of answers to reads.",
  rsct: "Content-Type of answers to reads.",
  skoid: "The object id of the user whose key signed it.",
  sktid: "The tenant of that user.",
  skt: "The user delegation key is valid from then on.",
  ske: "The user delegation key is valid until then.",
  sks: "The service of the user delegation key.",
  skv: "The version of the user delegation key.",
  saoid: "The user who acts; the signer vouches for what he may do.",
  suoid: "The user who acts, and whose ACLs are checked.",
  scid: "A correlation id for logs.",
  skdutid: "The tenant of the user that it is bound to.",
  sduoid: "The user that it is bound to, who has to send a token as well.",
  srh: "Names of headers that are signed.",
  srq: "Names of parameters that are signed.",
  snapshot: "The snapshot that is read. A SAS for a snapshot signs it.",
  versionid: "The version that is read. A SAS for a version signs it.",
};
