import assert from "node:assert/strict";
import { after } from "node:test";
import type { ShareClient, ShareFileClient } from "@azure/storage-file-share";
import { startSmb, type TestSmb } from "./server.ts";
import { SmbFiles } from "./smb-files.ts";

/** One share with an SMB client and a REST client. */
export interface Box {
  readonly smb: TestSmb;
  readonly share: ShareClient;
  readonly files: SmbFiles;
  /** Creates a file of ten bytes. */
  newFile(): Promise<{ name: string; file: ShareFileClient }>;
}

/** One for a whole test file. Internal errors of the server fail it. */
export async function boxForThisFile(): Promise<Box> {
  const smb = await startSmb();
  const share = smb.rest.client().getShareClient("box");
  const files = await SmbFiles.connect(smb.port, "box");
  after(async () => {
    files.close();
    await smb.close();
    assert.deepEqual(smb.failures, []);
  });
  let made = 0;
  return {
    smb,
    share,
    files,
    async newFile() {
      const name = `file${made++}`;
      const file = share.rootDirectoryClient.getFileClient(name);
      await file.create(10);
      return { name, file };
    },
  };
}
