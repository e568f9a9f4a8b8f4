import { MIB } from "../base/limits.ts";
import type { XmlElement } from "../front/rest/xml/parse-xml.ts";
import type { AccessControl, BlobRevision, ContentHeaders, Copy, Range } from "./item.ts";
import { childAt, pairsAt, retentionAt, textAt } from "./listed.ts";
import { remoteBody } from "./remote-body.ts";
import type { RestClient } from "./rest-client.ts";

const GET = { service: "blob", method: "GET" } as const;
/** Blobs that have a digest and are shorter were put whole: nobody asks for their blocks. */
const PUT_WHOLE_BYTES = MIB;

type Query = Readonly<Record<string, string>>;
type Text = (name: string) => string | undefined;

/** Reads the revisions of one blob, as a list shows them. */
export class RevisionReader {
  readonly #client: RestClient;
  readonly #path: string;
  readonly #of: Query;

  /** `of` is what every request asks for: which of the deleted containers. */
  constructor(client: RestClient, path: string, of: Query) {
    this.#client = client;
    this.#path = path;
    this.#of = of;
  }

  /** Revisions by age. The blob itself comes last, and before it one that was deleted. */
  orderOf(found: XmlElement): string {
    if (isCurrent(found)) return "~~";
    return textAt(found, "Snapshot") ?? textAt(found, "VersionId") ?? "~";
  }

  async read(found: XmlElement): Promise<BlobRevision> {
    const text = textsIn(childAt(found, "Properties"));
    const type = text("BlobType") as BlobRevision["type"];
    const bytes = Number(text("Content-Length") ?? "0");
    const query = { ...queryOf(found), ...archivedQuery(text), ...this.#of };
    const past = pastOf(text);
    const etag = text("Etag");
    // A blob that changes meanwhile is refused, so that bytes and properties fit together.
    const headers = etag === undefined ? {} : { "If-Match": quoted(etag) };
    const content = contentOf(text);
    const tags = childAt(childAt(found, "Tags") ?? found, "TagSet")?.children ?? [];
    return {
      ...identityOf(found),
      ...deletionOf(found, text),
      type,
      ...content,
      metadata: pairsAt(found, "Metadata"),
      tags: tags.map((tag) => [textAt(tag, "Key") ?? "", textAt(tag, "Value") ?? ""]),
      ...(await this.#typeTerms(type, text, query, {
        hasMd5: content.contentMd5 !== undefined,
        ...past,
      })),
      ...(await this.#fileTerms(found, text, query)),
      ...(text("Sealed") === "true" ? { sealed: true } : {}),
      ...copyAt(text),
      ...given("created", text("Creation-Time")),
      ...given("modified", text("Last-Modified")),
      ...past,
      ...given("etag", etag),
      body: remoteBody(this.#client, { ...GET, path: this.#path, query, headers }, bytes),
    };
  }

  async #typeTerms(
    type: BlobRevision["type"],
    text: Text,
    query: Query,
    { hasMd5, dataLake }: { readonly hasMd5: boolean; readonly dataLake?: boolean },
  ): Promise<Partial<BlobRevision>> {
    const tier = text("AccessTierInferred") === "true" ? undefined : text("AccessTier");
    const bytes = Number(text("Content-Length") ?? "0");
    switch (type) {
      case "PageBlob":
        return {
          sequenceNumber: text("x-ms-blob-sequence-number") ?? "0",
          ranges: await this.#pages(query),
        };
      case "AppendBlob":
        return bytes === 0 ? {} : this.#appended(query);
      case "BlockBlob": {
        const hasBlocks = dataLake !== true && (!hasMd5 || bytes > PUT_WHOLE_BYTES);
        return { ...given("tier", tier), ...(hasBlocks ? await this.#blocks(query) : {}) };
      }
    }
  }

  /** Of files and directories in a container with directories. */
  async #fileTerms(found: XmlElement, text: Text, query: Query): Promise<Partial<BlobRevision>> {
    const control = controlOf(text);
    if (control === null) return {};
    if (text("ResourceType") !== "file" || !isCurrent(found)) return { control };
    const answer = await this.#head(query);
    return { control, ...given("expires", answer.header("x-ms-expiry-time")) };
  }

  async #appended(query: Query): Promise<Pick<BlobRevision, "appended">> {
    const count = (await this.#head(query)).header("x-ms-blob-committed-block-count");
    return count === undefined ? {} : { appended: Number(count) };
  }

  #head(query: Query) {
    return this.#client.request({ ...GET, method: "HEAD", path: this.#path, query });
  }

  async #blocks(at: Query): Promise<Pick<BlobRevision, "blocks">> {
    const query = { comp: "blocklist", blocklisttype: "committed", ...at };
    const root = await this.#client.xml({ ...GET, path: this.#path, query });
    const blocks = (childAt(root, "CommittedBlocks")?.children ?? []).map((block) => ({
      id: textAt(block, "Name") ?? "",
      bytes: Number(textAt(block, "Size")),
    }));
    return blocks.length === 0 ? {} : { blocks };
  }

  async #pages(at: Query): Promise<Range[]> {
    const query = { comp: "pagelist", ...at };
    const root = await this.#client.xml({ ...GET, path: this.#path, query });
    return rangesIn(root, "PageRange");
  }
}

/** The texts of all children, by name: most of them are asked for. */
function textsIn(properties: XmlElement | undefined): Text {
  const texts = new Map(properties?.children.map(({ name, text }) => [name, text]));
  return (name) => texts.get(name) || undefined;
}

function isCurrent(found: XmlElement): boolean {
  if (textAt(found, "Snapshot") !== undefined || isDeleted(found)) return false;
  return textAt(found, "VersionId") === undefined || textAt(found, "IsCurrentVersion") === "true";
}

/** A server of ours lets an export read what is archived. */
function archivedQuery(text: Text): Query {
  const isRead = text("AccessTier") === "Archive" && text("LazuliPast") !== undefined;
  return isRead ? { "lazuli-archived": "true" } : {};
}

function isDeleted(found: XmlElement): boolean {
  return textAt(found, "Deleted") === "true";
}

/** What a request for this revision asks for. */
function queryOf(found: XmlElement): Query {
  const [snapshot, version] = [textAt(found, "Snapshot"), textAt(found, "VersionId")];
  const isNamed = !isCurrent(found);
  return {
    ...(snapshot === undefined ? {} : { snapshot }),
    ...(version === undefined || !isNamed ? {} : { versionid: version }),
    ...(isDeleted(found) ? { "lazuli-deleted": "true" } : {}),
  };
}

function identityOf(found: XmlElement): Partial<BlobRevision> {
  const version = textAt(found, "VersionId");
  return {
    ...given("snapshot", textAt(found, "Snapshot")),
    ...given("version", version),
    ...(version !== undefined && !isCurrent(found) ? { isEarlier: true } : {}),
  };
}

function deletionOf(found: XmlElement, text: Text): Partial<BlobRevision> {
  return isDeleted(found) ? retentionAt(text) : {};
}

type Past = Pick<
  BlobRevision,
  "created" | "modified" | "dataLake" | "encryptionContext" | "tierChanged"
>;

/** What a server of ours tells beyond the list of the service. */
function pastOf(text: Text): Past {
  return JSON.parse(text("LazuliPast") ?? "{}");
}

/** The copy that made a blob, unless it goes on or belongs to a chain of incremental ones. */
function copyAt(text: Text): Pick<BlobRevision, "copy"> {
  if (text("IncrementalCopy") === "true") return {};
  return copyOf({
    id: text("CopyId"),
    source: text("CopySource"),
    status: text("CopyStatus"),
    progress: text("CopyProgress"),
    completed: text("CopyCompletionTime"),
    description: text("CopyStatusDescription"),
  });
}

/** Nothing unless a copy is over. */
export function copyOf(found: Record<keyof Copy, string | undefined>): { readonly copy?: Copy } {
  const { id, source, status, progress, completed, description } = found;
  if (id === undefined || source === undefined || status === undefined) return {};
  if (progress === undefined || completed === undefined) return {};
  return {
    copy: { id, source, status, progress, completed, ...given("description", description) },
  };
}

function controlOf(text: Text): AccessControl | null {
  const [owner, group, acl] = [text("Owner"), text("Group"), text("Acl")];
  if (owner === undefined || group === undefined || acl === undefined) return null;
  return { owner, group, permissions: text("Permissions") ?? "", acl };
}

function quoted(etag: string): string {
  return etag.startsWith('"') ? etag : `"${etag}"`;
}

function given(name: string, value: string | undefined): Record<string, string> {
  return value === undefined ? {} : { [name]: value };
}

function contentOf(text: Text): ContentHeaders {
  return {
    ...given("contentType", text("Content-Type")),
    ...given("contentEncoding", text("Content-Encoding")),
    ...given("contentLanguage", text("Content-Language")),
    ...given("contentDisposition", text("Content-Disposition")),
    ...given("cacheControl", text("Cache-Control")),
    ...given("contentMd5", text("Content-MD5")),
  };
}

/** Ranges as the services list them, without those that are clear. */
export function rangesIn(root: XmlElement, name: string): Range[] {
  return root.children
    .filter((child) => child.name === name)
    .map((range) => [Number(textAt(range, "Start")), Number(textAt(range, "End")) + 1]);
}
