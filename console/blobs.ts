import type { Page } from "./pages.ts";
import { type Account, encodePath } from "./storage.ts";
import { children, elements, escapeXml, textAt } from "./xml.ts";

/** A blob, one of its other revisions, or a directory in a list. */
export interface ListedBlob {
  readonly name: string;
  readonly isPrefix: boolean;
  readonly bytes: number;
  readonly type: string;
  readonly lease: string;
  readonly modified: string;
  /** The query that names the revision; "" for the current blob. */
  readonly revision: string;
  readonly isDeleted: boolean;
  /** Shown behind the name. */
  readonly note: string;
}

const PAGE = "1000";

export async function listBlobs(
  account: Account,
  container: string,
  prefix: string,
  { isFlat, withDeleted }: { isFlat: boolean; withDeleted: boolean },
  marker: string,
): Promise<Page<ListedBlob>> {
  const answer = await account.ask({
    service: "blob",
    path: [container],
    query: {
      restype: "container",
      comp: "list",
      maxresults: PAGE,
      ...(prefix === "" ? {} : { prefix }),
      ...(isFlat ? {} : { delimiter: "/" }),
      ...(withDeleted
        ? { include: isFlat ? "snapshots,versions,deleted" : "deleted,versions" }
        : {}),
      ...(marker === "" ? {} : { marker }),
    },
  });
  const xml = await answer.xml();
  const prefixes = elements(xml, "BlobPrefix").map(
    (found): ListedBlob => ({
      ...NOTHING,
      name: textAt(found, "Name"),
      isPrefix: true,
    }),
  );
  const blobs = elements(xml, "Blob").map(listedBlob);
  return { rows: [...prefixes, ...blobs], next: textAt(xml.documentElement, "NextMarker") };
}

const NOTHING = {
  isPrefix: false,
  bytes: 0,
  type: "",
  lease: "",
  modified: "",
  revision: "",
  isDeleted: false,
  note: "",
};

function listedBlob(found: Element): ListedBlob {
  const snapshot = textAt(found, "Snapshot");
  const isCurrent = textAt(found, "IsCurrentVersion") === "true";
  const version = isCurrent ? "" : textAt(found, "VersionId");
  const isDeleted = textAt(found, "Deleted") === "true";
  const lease = textAt(found, "Properties/LeaseState");
  const notes = [
    ...(snapshot === "" ? [] : [`snapshot ${snapshot}`]),
    ...(version === "" ? [] : [`version ${version}`]),
    ...(isDeleted ? ["deleted"] : []),
  ];
  return {
    name: textAt(found, "Name"),
    isPrefix: false,
    bytes: Number(textAt(found, "Properties/Content-Length")),
    type: textAt(found, "Properties/BlobType"),
    lease: lease === "available" ? "" : lease,
    modified: textAt(found, "Properties/Last-Modified"),
    revision:
      snapshot !== "" ? `snapshot=${snapshot}` : version !== "" ? `versionid=${version}` : "",
    isDeleted,
    note: notes.length === 0 ? "" : ` (${notes.join(", ")})`,
  };
}

/** The address of a revision in requests. */
export function addressOf(container: string, { name, revision }: ListedBlob) {
  const [parameter = "", value = ""] = revision.split("=");
  const query: Record<string, string> = revision === "" ? {} : { [parameter]: value };
  return { service: "blob", path: [container, name], query } as const;
}

/** Copies a revision over the blob, or to its place if the blob is deleted. */
export async function makeCurrent(account: Account, container: string, blob: ListedBlob) {
  const path = [account.name, container, blob.name].map(encodePath).join("/");
  await account.ask({
    ...addressOf(container, { ...blob, revision: "" }),
    method: "PUT",
    headers: { "x-ms-copy-source": `${account.blobUrl}/${path}?${encodeRevision(blob)}` },
  });
}

function encodeRevision({ revision }: ListedBlob): string {
  const [parameter = "", value = ""] = revision.split("=");
  return `${parameter}=${encodeURIComponent(value)}`;
}

export async function readTags(
  account: Account,
  at: ReturnType<typeof addressOf>,
): Promise<[string, string][]> {
  const answer = await account.ask({ ...at, query: { ...at.query, comp: "tags" } });
  return elements(await answer.xml(), "Tag").map((tag) => {
    const texts = new Map(children(tag));
    return [texts.get("Key") ?? "", texts.get("Value") ?? ""];
  });
}

export async function writeTags(
  account: Account,
  at: ReturnType<typeof addressOf>,
  tags: readonly (readonly [string, string])[],
): Promise<void> {
  const set = tags
    .map(
      ([key, value]) => `<Tag><Key>${escapeXml(key)}</Key><Value>${escapeXml(value)}</Value></Tag>`,
    )
    .join("");
  await account.ask({
    ...at,
    method: "PUT",
    query: { ...at.query, comp: "tags" },
    headers: { "content-type": "application/xml" },
    body: `<?xml version="1.0" encoding="utf-8"?><Tags><TagSet>${set}</TagSet></Tags>`,
  });
}
