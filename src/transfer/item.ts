import type { Bytes } from "../base/bytes.ts";
import type { TransferError } from "./transfer-error.ts";

/**
 * What is moved from one place to another: the objects of an account, in a form that every source
 * makes and every sink takes. Without bodies they are JSON: the lines of a manifest.
 */
export type Item =
  | ServiceItem
  | ContainerItem
  | BlobItem
  | QueueItem
  | MessagesItem
  | TableItem
  | EntitiesItem
  | ShareItem
  | DirectoryItem
  | FileItem
  | RemovalItem
  | ShareSnapshotItem;

export const SERVICE_KINDS = ["blob", "queue", "table", "file"] as const;
export type ServiceKind = (typeof SERVICE_KINDS)[number];

/** Names with values, in order. Metadata keep the case of their names. */
export type Pairs = readonly (readonly [name: string, value: string])[];

/** A stored access policy; its times are ISO 8601. */
export interface Policy {
  readonly id: string;
  readonly start?: string;
  readonly expiry?: string;
  readonly permission?: string;
}

/** Bytes that can be read more than once. */
export interface Body {
  readonly bytes: number;
  /** All of them, if they are in memory. */
  readonly held?: Bytes;
  /** `count` bytes from `from` on; by default all. */
  read(from?: number, count?: number): AsyncIterable<Bytes>;
}

/** The settings of a service, as the document of Set Service Properties. */
export interface ServiceItem {
  readonly kind: "service";
  readonly service: ServiceKind;
  readonly xml: string;
}

/** What a container or share has that was deleted and can be restored. */
export interface Deletable {
  /** Tells it from others of this name. What lies in it has the same. */
  readonly version?: string;
  /** When it was deleted, and until when it can be restored. */
  readonly deleted?: string;
  readonly until?: string;
}

/** What only a server of ours takes from an import. */
export interface Versioned {
  readonly etag?: string;
  readonly modified?: string;
}

export interface ContainerItem extends Deletable, Versioned {
  readonly kind: "container";
  readonly name: string;
  readonly metadata: Pairs;
  readonly publicAccess?: "blob" | "container";
  readonly policies: readonly Policy[];
  /** Of the root directory; missing in a flat container. */
  readonly control?: AccessControl;
}

/** Owner and ACL of a directory, or of a file in one. */
export interface AccessControl {
  readonly owner: string;
  readonly group: string;
  /** `rwxr-x--T`: also the sticky bit, which the ACL does not have. */
  readonly permissions: string;
  readonly acl: string;
}

/** A blob with its other revisions, oldest first; the last one is the blob itself, if it exists. */
export interface BlobItem {
  readonly kind: "blob";
  readonly container: string;
  /** Of a container that was deleted. */
  readonly version?: string;
  readonly name: string;
  /** Empty if the blob has uncommitted blocks only. */
  readonly revisions: readonly BlobRevision[];
  /** Uncommitted blocks. */
  readonly staged?: readonly StagedBlock[];
}

export interface ContentHeaders {
  readonly contentType?: string;
  readonly contentEncoding?: string;
  readonly contentLanguage?: string;
  readonly contentDisposition?: string;
  readonly cacheControl?: string;
  /** In Base64. */
  readonly contentMd5?: string;
}

export interface BlobRevision extends ContentHeaders {
  /** When the snapshot was taken; missing for the blob itself. */
  readonly snapshot?: string;
  /** The id of the version; also of the blob itself, if it has one. */
  readonly version?: string;
  /** Whether it is an earlier version. */
  readonly isEarlier?: boolean;
  /** When it was deleted, and until when it can be restored. */
  readonly deleted?: string;
  readonly until?: string;
  readonly type: "BlockBlob" | "PageBlob" | "AppendBlob";
  readonly metadata: Pairs;
  readonly tags: Pairs;
  /** Missing unless somebody has set it. */
  readonly tier?: string;
  readonly tierChanged?: string;
  readonly sequenceNumber?: string;
  readonly sealed?: boolean;
  /** Of a blob that was committed from blocks. */
  readonly blocks?: readonly Block[];
  /** How many blocks were appended to an append blob. */
  readonly appended?: number;
  /** The written pages of a page blob, as offsets: from, until. */
  readonly ranges?: readonly Range[];
  /** In a container with directories. */
  readonly control?: AccessControl;
  /** Whether Data Lake wrote it, so that it may add to it. */
  readonly dataLake?: boolean;
  readonly encryptionContext?: string;
  /** The copy that made it. */
  readonly copy?: Copy;
  /** When a file in a directory expires. */
  readonly expires?: string;
  /** The digest is new: the one that the server computes stays. */
  readonly computesMd5?: boolean;
  readonly created?: string;
  readonly modified?: string;
  readonly etag?: string;
  readonly body: Body;
}

export interface Block {
  /** In Base64. */
  readonly id: string;
  readonly bytes: number;
}

/** A copy that is over, with the values of its headers. */
export interface Copy {
  readonly id: string;
  readonly source: string;
  readonly status: string;
  readonly progress: string;
  readonly completed: string;
  readonly description?: string;
}

/** An uncommitted block; of a file of Data Lake what was appended and not flushed. */
export interface StagedBlock {
  /** In Base64, or the position of what was appended. */
  readonly id: string;
  readonly body: Body;
}

export type Range = readonly [from: number, until: number];

export interface QueueItem {
  readonly kind: "queue";
  readonly name: string;
  readonly metadata: Pairs;
  readonly policies: readonly Policy[];
}

/** Some messages of a queue, in their order. */
export interface MessagesItem {
  readonly kind: "messages";
  readonly queue: string;
  readonly messages: readonly Message[];
}

/** Times are ISO 8601. */
export interface Message {
  readonly text: string;
  readonly id?: string;
  readonly inserted?: string;
  /** Missing for a message that never expires. */
  readonly expires?: string;
  readonly visible?: string;
  readonly dequeued?: number;
}

export interface TableItem {
  readonly kind: "table";
  readonly name: string;
  readonly policies: readonly Policy[];
}

/** Some entities of one partition, each as the JSON that an insert takes. */
export interface EntitiesItem {
  readonly kind: "entities";
  readonly table: string;
  readonly entities: readonly Entity[];
}

/**
 * By name, with a type annotation for each property whose type the value does not show. Timestamp
 * has none: only a server of ours takes it.
 */
export type Entity = Readonly<Record<string, string | number | boolean>>;

export interface ShareItem extends Deletable, Versioned {
  readonly kind: "share";
  readonly name: string;
  readonly metadata: Pairs;
  readonly policies: readonly Policy[];
  readonly quotaGib?: number;
  readonly tier?: string;
  readonly tierChanged?: string;
  /** How many there are. What they show comes before them, oldest first, and the share last. */
  readonly snapshots?: number;
}

/** A snapshot of a share as it is now, when everything before this item is in it. */
export interface ShareSnapshotItem extends Versioned {
  readonly kind: "shareSnapshot";
  readonly share: string;
  /** Of a share that was deleted. */
  readonly version?: string;
  /** When it was taken. */
  readonly taken: string;
  readonly metadata: Pairs;
  readonly quotaGib?: number;
}

/** A file or directory that an earlier snapshot has, and the next one has no more. */
export interface RemovalItem {
  readonly kind: "removal";
  readonly share: string;
  readonly version?: string;
  readonly path: string;
  readonly isDirectory: boolean;
}

/** Times and attributes of a file or directory, as File headers write them. */
export interface FileTerms extends Versioned {
  readonly attributes?: string;
  readonly created?: string;
  readonly written?: string;
  readonly changed?: string;
  /** A security descriptor in SDDL. */
  readonly permission?: string;
}

export interface DirectoryItem extends FileTerms {
  readonly kind: "directory";
  readonly share: string;
  readonly version?: string;
  /** "" for the root. */
  readonly path: string;
  readonly metadata: Pairs;
}

export interface FileItem extends FileTerms, ContentHeaders {
  readonly kind: "file";
  readonly share: string;
  readonly version?: string;
  readonly path: string;
  /** The first snapshot that shows it so; missing for the share itself. */
  readonly snapshot?: string;
  readonly metadata: Pairs;
  /** The written ranges, as offsets: from, until. */
  readonly ranges?: readonly Range[];
  /** The copy that made it. */
  readonly copy?: Copy;
  readonly body: Body;
}

/** "skipped" if it was there already. */
export type Written = "written" | "skipped";

/** Where items come from. */
export interface Source {
  /** Counts what there is, if that is cheap. */
  survey(): Promise<Amount | null>;
  /** What holds others comes before them. */
  items(): AsyncIterable<Item>;
  close(): Promise<void>;
}

/** Where items go. */
export interface Sink {
  /** Writes an item. Items that are not containers of others may be written at the same time. */
  put(item: Item): Promise<Written>;
  /** Whether it had better be written together with others of its container. */
  isForMany?(item: Item): item is BlobItem;
  /** Writes such items; each of them may fail by itself. */
  putMany?(items: readonly BlobItem[]): Promise<readonly (Written | TransferError)[]>;
  /** Whether a transfer that is interrupted still writes this item, which completes others. */
  completes?(item: Item): boolean;
  /** Makes everything visible or durable. */
  finish(): Promise<void>;
  /** Removes what must not be seen half done. */
  abandon(): Promise<void>;
}

export interface Amount {
  readonly objects: number;
  readonly bytes: number;
}

const STRUCTURES: readonly Item["kind"][] = [
  "service",
  "container",
  "queue",
  "table",
  "share",
  "directory",
  "removal",
  "shareSnapshot",
];

/** Whether others lie in it or come behind it, so that it has to be written before them. */
export function isStructure({ kind }: Item): boolean {
  return STRUCTURES.includes(kind);
}

/** Whether everything before it has to be written first. */
export function isBehindAll({ kind }: Item): boolean {
  return kind === "removal" || kind === "shareSnapshot";
}

/** Objects and bytes of an item, for the progress. */
export function amountOf(item: Item): Amount {
  switch (item.kind) {
    case "blob": {
      const bodies = [...item.revisions, ...(item.staged ?? [])].map(({ body }) => body.bytes);
      return { objects: 1, bytes: bodies.reduce((sum, bytes) => sum + bytes, 0) };
    }
    case "file":
      return { objects: 1, bytes: item.body.bytes };
    case "messages":
      return { objects: item.messages.length, bytes: 0 };
    case "entities":
      return { objects: item.entities.length, bytes: 0 };
    default:
      return { objects: 1, bytes: 0 };
  }
}

/** A name for messages: `blob box/a.txt`. */
export function nameOf(item: Item): string {
  switch (item.kind) {
    case "service":
      return `properties of the ${item.service} service`;
    case "blob":
      return `blob ${item.container}/${item.name}`;
    case "messages":
      return `messages of the queue ${item.queue}`;
    case "entities":
      return `entities of the table ${item.table}`;
    case "directory":
    case "file":
    case "removal":
      return `${item.kind} ${item.share}/${item.path}`;
    case "shareSnapshot":
      return `snapshot ${item.taken} of the share ${item.share}`;
    default:
      return `${item.kind} ${item.name}`;
  }
}
