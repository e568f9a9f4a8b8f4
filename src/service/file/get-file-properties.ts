import { type LeaseStatus, leaseStatus } from "../../rules/lease.ts";
import { admitFileRead } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import type { File } from "./tree-records.ts";

export interface FileFound {
  readonly file: File;
  readonly lease: LeaseStatus;
}

export async function getFileProperties(
  context: FileContext,
  asked: FileAsked,
): Promise<FileFound> {
  return context.store.read((view) => {
    const { file } = admitFileRead(view, asked, "getFileProperties");
    return { file, lease: leaseStatus(file.lease, view.now()) };
  });
}
