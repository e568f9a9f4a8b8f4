import type { ByteRange } from "../../base/byte-range.ts";
import type { Body, Bytes } from "../../base/bytes.ts";
import type { FileTime } from "../../base/file-time.ts";
import type { Stamp } from "../../base/stamp.ts";
import type { Content, ContentKey } from "../../store/content.ts";
import type { View } from "../../store/store.ts";

/** The source of a copy: an object on this server, or one elsewhere. */
export type Source = OwnSource | ForeignSource;

export interface OwnSource {
  readonly kind: "own";
  /** The URL as clients see it, without credentials. */
  readonly url: string;
  readonly name: SourceName;
  /**
   * The object that the name refers to now. Throws a Fault unless the caller may read it and its
   * conditions hold. Called in the body that writes the copy, so that both see one state.
   * `fromArchive` accepts an archived object.
   */
  find(view: View, fromArchive?: boolean): OwnObject;
}

/** The name of a source on this server, however its URL is written. */
export interface SourceName {
  /** Account, container or share, and the path in it. */
  readonly path: string;
  /** Null for the current revision. */
  readonly snapshot: Stamp | null;
}

export interface ForeignSource {
  readonly kind: "foreign";
  readonly url: string;
  /** Asks the source's server for its properties. */
  look(): Promise<SourceObject>;
  /** Asks for the source's bytes, of the version with this ETag if one is given. */
  open(range: ByteRange | null, etag: string | null): Promise<OpenedSource>;
  /** Describes to clients why a copy failed. */
  failure(error: unknown): string;
}

/** Properties of an object that can be copied. */
export interface SourceObject {
  readonly type: "BlockBlob" | "PageBlob" | "AppendBlob" | "File";
  /** Length of the whole object. */
  readonly length: number;
  /** Null if its server sends none. */
  readonly etag: string | null;
  readonly properties: SourceProperties;
  readonly metadata: readonly (readonly [string, string])[];
  readonly tags: readonly (readonly [string, string])[];
  /** For page blobs only. */
  readonly sequenceNumber: bigint;
  /** For append blobs only. */
  readonly appendedBlocks: number;
  readonly isSealed: boolean;
  /** For files on this server only. */
  readonly settings?: SourceSettings;
}

/** The SMB properties of a file. */
export interface SourceSettings {
  readonly attributes: number;
  readonly created: FileTime;
  readonly written: FileTime;
  readonly changed: FileTime;
  /** The security descriptor, as SDDL. */
  readonly sddl: string;
}

/** The headers that are stored with an object. */
export interface SourceProperties {
  readonly contentType: string;
  readonly contentEncoding: string;
  readonly contentLanguage: string;
  readonly contentDisposition: string;
  readonly cacheControl: string;
  readonly contentMd5: Bytes | null;
}

/** An object on this server that can be copied, as one view shows it. */
export interface OwnObject extends Omit<SourceObject, "length" | "etag"> {
  readonly etag: Stamp;
  readonly content: Content;
  /** The key that its bytes are encrypted with, if they are. */
  readonly key?: ContentKey | null;
  /** Whether its bytes must be rehydrated first. */
  readonly isArchived?: boolean;
}

/** An open source whose bytes are being received. The caller closes it, read or not. */
export interface OpenedSource extends SourceObject {
  /** The bytes of the requested range. */
  readonly body: Body;
  close(): void;
}
