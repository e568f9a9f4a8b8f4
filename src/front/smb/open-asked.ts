import { DELETE, READ, WRITE } from "../../rules/share-mode.ts";
import type { Disposition } from "../../service/file/open-file.ts";
import type { FileUse, OpenAsked } from "../outcome.ts";
import { ACCESS, ALL_ACCESS, grantedAccess } from "./codec/access.ts";
import type { CreateRequest } from "./codec/create.ts";

/** By their numbers in the protocol. */
export const DISPOSITIONS: readonly Disposition[] = [
  "supersede",
  "open",
  "create",
  "openIf",
  "overwrite",
  "overwriteIf",
];

/** The access that counts against the share modes of others. */
export function accessBits(granted: number): number {
  const reads = (granted & (ACCESS.readData | ACCESS.execute)) !== 0;
  const writes = (granted & (ACCESS.writeData | ACCESS.appendData)) !== 0;
  const deletes = (granted & ACCESS.delete) !== 0;
  return (reads ? READ : 0) | (writes ? WRITE : 0) | (deletes ? DELETE : 0);
}

/** What a client asks for when it opens a file, in words for logs. */
export function openAskedOf({ access, share, disposition }: CreateRequest): OpenAsked {
  return {
    access: usesOf(accessBits(grantedAccess(access, ALL_ACCESS))),
    shareMode: usesOf(share),
    disposition: DISPOSITIONS[disposition] ?? String(disposition),
  };
}

function usesOf(bits: number): FileUse[] {
  const uses: FileUse[] = [];
  if ((bits & READ) !== 0) uses.push("read");
  if ((bits & WRITE) !== 0) uses.push("write");
  if ((bits & DELETE) !== 0) uses.push("delete");
  return uses;
}
