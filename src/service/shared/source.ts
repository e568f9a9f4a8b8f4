import type { ByteRange } from "../../base/byte-range.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import type { FileTime } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Content } from "../../store/contents.ts";
import type { View } from "../../store/store.ts";

/** What a copy takes its bytes from: something on this server, or something elsewhere. */
export type Source = OwnSource | ForeignSource;

export interface OwnSource {
  readonly kind: "own";
  /** As clients are told of it: without what opens it. */
  readonly url: string;
  readonly name: SourceName;
  /**
   * What it names now. Throws a Fault unless the caller may read it and the conditions on it hold.
   * Called in the body that copies, so that the two cannot disagree. `fromArchive` says that what
   * is archived will do, too.
   */
  find(view: View, fromArchive?: boolean): OwnObject;
}

/** What a source on this server is called, however its URL spells that. */
export interface SourceName {
  /** Account, container or share, and what lies in it. */
  readonly path: string;
  /** Null for what is current. */
  readonly snapshot: Stamp | null;
}

export interface ForeignSource {
  readonly kind: "foreign";
  readonly url: string;
  /** Asks what it is now, without its bytes. */
  look(): Promise<SourceObject>;
  /** Asks for its bytes; of the version with this ETag, where one is named. */
  open(range: ByteRange | null, etag: string | null): Promise<OpenedSource>;
  /** Why a copy of it failed, as clients are told of that. */
  failure(error: unknown): string;
}

/** Something that can be copied. */
export interface SourceObject {
  readonly type: "BlockBlob" | "PageBlob" | "AppendBlob" | "File";
  /** Of all of it. */
  readonly length: number;
  /** Null where its server names none. */
  readonly etag: string | null;
  readonly properties: SourceProperties;
  readonly metadata: readonly (readonly [string, string])[];
  readonly tags: readonly (readonly [string, string])[];
  /** Of page blobs only. */
  readonly sequenceNumber: bigint;
  /** Of append blobs only. */
  readonly appendedBlocks: number;
  readonly isSealed: boolean;
  /** Of files on this server only. */
  readonly settings?: SourceSettings;
}

/** What files have over SMB. */
export interface SourceSettings {
  readonly attributes: number;
  readonly created: FileTime;
  readonly written: FileTime;
  readonly changed: FileTime;
  /** Who may do what, as SDDL. */
  readonly sddl: string;
}

/** The headers that are stored with it. */
export interface SourceProperties {
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly contentLanguage: string;
  readonly contentDisposition: string;
  readonly cacheControl: string;
  readonly contentMd5: Bytes | null;
}

/** Something on this server that can be copied, as one state shows it. */
export interface OwnObject extends Omit<SourceObject, "length" | "etag"> {
  readonly etag: Stamp;
  readonly content: Content;
  /** Whether its bytes have to be waited for. */
  readonly isArchived?: boolean;
}

/** Bytes on their way here. To be closed in the end, taken or not. */
export interface OpenedSource extends SourceObject {
  /** Of what was asked for. */
  readonly body: Body;
  close(): void;
}
