import { BlobServiceClient } from "@azure/storage-blob";
import {
  type DataLakeFileSystemClient,
  DataLakeServiceClient,
  type PathAccessControlItem,
} from "@azure/storage-file-datalake";
import { DATALAKE_CREDENTIAL, type DataLakeServer } from "./datalake-server.ts";
import { credential, OPTIONS } from "./role-users.ts";
import { CREDENTIAL } from "./server.ts";

export const ANN = "aaaaaaaa-0000-4000-8000-00000000000a";
export const BOB = "bbbbbbbb-0000-4000-8000-00000000000b";
export const TEAM = "cccccccc-0000-4000-8000-00000000000c";

/** Clients of one file system for both doors. */
export interface UserOfFilesystem {
  readonly filesystem: DataLakeFileSystemClient;
  readonly blobs: ReturnType<BlobServiceClient["getContainerClient"]>;
}

/** The clients of a user without any role. */
export function userOf(
  server: DataLakeServer,
  name: string,
  oid: string,
  groups: readonly string[] = [],
): UserOfFilesystem {
  return userAt(server.url, name, oid, groups);
}

/** As `userOf`, at any address. */
export function userAt(
  url: string,
  name: string,
  oid: string,
  groups: readonly string[] = [],
): UserOfFilesystem {
  const token = credential({ oid, groups });
  return {
    filesystem: new DataLakeServiceClient(url, token, OPTIONS).getFileSystemClient(name),
    blobs: new BlobServiceClient(url, token, OPTIONS).getContainerClient(name),
  };
}

let made = 0;

/** Creates a file system as the owner of the account, who is a super-user. */
export async function ownFilesystem(server: DataLakeServer): Promise<DataLakeFileSystemClient> {
  const service = new DataLakeServiceClient(server.url, DATALAKE_CREDENTIAL, OPTIONS);
  const filesystem = service.getFileSystemClient(`lake-${++made}`);
  await filesystem.create();
  return filesystem;
}

/** The owner's client of the same file system for the Blob door. */
export function ownBlobs(server: DataLakeServer, { name }: DataLakeFileSystemClient) {
  return new BlobServiceClient(server.url, CREDENTIAL, OPTIONS).getContainerClient(name);
}

/** The root directory, as the client addresses it. */
export function rootOf(filesystem: DataLakeFileSystemClient) {
  return filesystem.getDirectoryClient("/");
}

/** The client's form of `user::rwx,default:group:id:r-x`. */
export function itemsOf(acl: string): PathAccessControlItem[] {
  return acl.split(",").map((entry) => {
    const isDefault = entry.startsWith("default:");
    const [type, entityId = "", rights = ""] = entry.slice(isDefault ? 8 : 0).split(":");
    return {
      defaultScope: isDefault,
      accessControlType: type as PathAccessControlItem["accessControlType"],
      entityId,
      permissions: {
        read: rights.includes("r"),
        write: rights.includes("w"),
        execute: rights.includes("x"),
      },
    };
  });
}

/** The text of an ACL in the client's form. */
export function textOf(acl: readonly PathAccessControlItem[]): string {
  const entries = acl.map(({ defaultScope, accessControlType, entityId, permissions }) => {
    const { read, write, execute } = permissions;
    const rights = (read ? "r" : "-") + (write ? "w" : "-") + (execute ? "x" : "-");
    return `${defaultScope ? "default:" : ""}${accessControlType}:${entityId}:${rights}`;
  });
  return entries.join(",");
}

/** An ACL that grants one user these rights, and nobody else any. */
export function granting(id: string, rights: string): PathAccessControlItem[] {
  return itemsOf(`user::rwx,user:${id}:${rights},group::---,mask::rwx,other::---`);
}
