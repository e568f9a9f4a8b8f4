import { createHash } from "node:crypto";
import {
  type DirectoryGetPropertiesResponse,
  type FileGetPropertiesResponse,
  FileSystemAttributes,
  ShareServiceClient,
  StorageSharedKeyCredential,
} from "@azure/storage-file-share";
import { ACCOUNT, KEY } from "../sdk/server.ts";

const TIMES = {
  creationTime: new Date("2001-02-03T04:05:06.789Z"),
  lastWriteTime: new Date("2002-03-04T05:06:07.891Z"),
  changeTime: new Date("2003-04-05T06:07:08.912Z"),
};

const OWN_PERMISSION =
  "O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-" +
  "1887927527-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-" +
  "188441444-3053964)";

export function sharesAt(url: string): ShareServiceClient {
  return new ShareServiceClient(url, new StorageSharedKeyCredential(ACCOUNT, KEY));
}

/** Writes a share with one of everything. */
export async function fillShares(url: string): Promise<void> {
  const share = sharesAt(url).getShareClient("docs");
  await share.create({ metadata: { key: "value" }, quota: 7, accessTier: "Cool" });
  await share.setAccessPolicy([
    {
      id: "readers",
      accessPolicy: {
        permissions: "r",
        startsOn: new Date("2020-01-01"),
        expiresOn: new Date("2099-01-01"),
      },
    },
  ]);
  const folder = share.getDirectoryClient("a folder");
  await folder.create({ metadata: { dir: "yes" }, ...TIMES });
  await folder.getDirectoryClient("ü").create();
  const file = folder.getFileClient("✓.txt");
  await file.create(3_000_000, {
    ...TIMES,
    metadata: { file: "yes" },
    fileAttributes: FileSystemAttributes.parse("Hidden|Archive"),
    fileHttpHeaders: { fileContentType: "text/plain", fileCacheControl: "no-store" },
  });
  await file.uploadRange(Buffer.alloc(1_024, 7), 512, 1_024);
  await file.uploadRange(Buffer.alloc(512, 8), 2_000_384, 512);
  await file.setProperties({ ...TIMES, fileHttpHeaders: { fileContentType: "text/plain" } });
  await share.getDirectoryClient("").getFileClient("empty").create(0);
  const fixed = folder.getFileClient("fixed");
  await fixed.create(2_000, { filePermission: OWN_PERMISSION });
  await fixed.uploadRange(Buffer.alloc(2_000, 9), 0, 2_000);
  const fileAttributes = FileSystemAttributes.parse("ReadOnly|Hidden");
  await fixed.setProperties({ ...TIMES, fileAttributes });
  await folder.getFileClient("fixed empty").create(0, { fileAttributes });
}

/** Everything of all shares that a round trip must keep. */
export async function describeShares(url: string): Promise<unknown> {
  const shares: unknown[] = [];
  const service = sharesAt(url);
  for await (const { name, metadata, properties } of service.listShares({
    includeMetadata: true,
  })) {
    const share = service.getShareClient(name);
    const { signedIdentifiers } = await share.getAccessPolicy();
    const { quota, accessTier } = properties;
    const items: unknown[] = [];
    const permissions = new Map<string, string>();
    await describeFolder(share.rootDirectoryClient, "", items, async ({ filePermissionKey }) => {
      const key = filePermissionKey ?? "";
      const known = permissions.get(key) ?? (await share.getPermission(key)).permission;
      permissions.set(key, known);
      return { permission: known };
    });
    shares.push({ name, metadata, quota, accessTier, signedIdentifiers, items });
  }
  return shares;
}

type Folder = ReturnType<ReturnType<ShareServiceClient["getShareClient"]>["getDirectoryClient"]>;

export async function describeFolder(
  folder: Folder,
  path: string,
  items: unknown[],
  more: More = () => ({}),
): Promise<void> {
  const found = await folder.getProperties();
  const own = path === "" ? {} : { ...termsOf(found), ...(await more(found)) };
  items.push({ path, metadata: found.metadata, ...own });
  for await (const item of folder.listFilesAndDirectories()) {
    const own = `${path}/${item.name}`;
    if (item.kind === "directory") {
      await describeFolder(folder.getDirectoryClient(item.name), own, items, more);
      continue;
    }
    const file = folder.getFileClient(item.name);
    const properties = await file.getProperties();
    const content = await file.downloadToBuffer();
    items.push({
      path: own,
      metadata: properties.metadata,
      contentLength: properties.contentLength,
      contentType: properties.contentType,
      cacheControl: properties.cacheControl,
      ...termsOf(properties),
      ...(await more(properties)),
      ranges: (await file.getRangeList()).rangeList,
      digest: createHash("sha256").update(content).digest("hex"),
    });
  }
}

/** What a test compares besides. */
type More = (
  found: DirectoryGetPropertiesResponse | FileGetPropertiesResponse,
) => object | Promise<object>;

interface Terms {
  readonly fileAttributes?: string;
  readonly fileCreatedOn?: Date;
  readonly fileLastWriteOn?: Date;
  readonly fileChangeOn?: Date;
  readonly filePermissionKey?: string;
}

function termsOf(found: Terms): Terms {
  const { fileAttributes, fileCreatedOn, fileLastWriteOn, fileChangeOn } = found;
  return { fileAttributes, fileCreatedOn, fileLastWriteOn, fileChangeOn } as Terms;
}
