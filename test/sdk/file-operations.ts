import { RestError, type ShareFileClient } from "@azure/storage-file-share";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import type { FileServer } from "./file-server.ts";
import { rawRequest } from "./raw-request.ts";
import { ALL } from "./smb-handles.ts";

const LEASE_ID = "aaaaaaaa-0000-4000-8000-000000000001";

/** Share modes of a handle, in the order of the table's columns. */
export const SHARES = [0, READ, WRITE, DELETE, READ | WRITE, READ | DELETE, WRITE | DELETE, ALL];
export const SHARE_NAMES = ["none", "R", "W", "D", "RW", "RD", "WD", "RWD"];

/** Every REST operation on an existing file: 1 if a handle with this share mode blocks it. */
export const SHARE_MODE_TABLE = {
  getFile: "1 0 1 1 0 0 1 0",
  getFileProperties: "0 0 0 0 0 0 0 0",
  getFileMetadata: "0 0 0 0 0 0 0 0",
  listRanges: "1 0 1 1 0 0 1 0",
  putRange: "1 1 0 1 0 1 0 0",
  clearRange: "1 1 0 1 0 1 0 0",
  putRangeFromUrl: "1 1 0 1 0 1 0 0",
  setFileProperties: "1 1 0 1 0 1 0 0",
  resizeFile: "1 1 0 1 0 1 0 0",
  setFileMetadata: "1 1 0 1 0 1 0 0",
  createFile: "1 1 1 1 1 1 0 0",
  copyFile: "1 1 1 1 1 1 0 0",
  copyFromFile: "1 0 1 1 0 0 1 0",
  deleteFile: "1 1 1 1 1 1 1 1",
  renameFile: "1 1 1 0 1 0 0 0",
  replaceFile: "1 1 1 1 1 1 1 1",
  acquireFileLease: "1 1 1 1 1 1 1 0",
  listHandles: "0 0 0 0 0 0 0 0",
} as const;

export type FileOperation = keyof typeof SHARE_MODE_TABLE;
export const FILE_OPERATIONS = Object.keys(SHARE_MODE_TABLE) as FileOperation[];

/** Operations that need no existing file. */
export const CREATES: ReadonlySet<FileOperation> = new Set([
  "createFile",
  "copyFile",
  "replaceFile",
]);

/** A copying client gets CannotVerifyCopySource, with the reason. */
export function codeOf(operation: FileOperation, code: string): string {
  return operation === "copyFromFile" ? "CannotVerifyCopySource" : code;
}

/** Runs the operations of the table on files in the root of one share. */
export class RestOperations {
  readonly #server: FileServer;
  readonly #share: string;
  readonly #runs: Record<FileOperation, (file: ShareFileClient) => Promise<unknown>>;
  #others = 0;

  constructor(server: FileServer, share: string) {
    this.#server = server;
    this.#share = share;
    this.#runs = {
      getFile: (file) => file.downloadToBuffer(),
      getFileProperties: (file) => file.getProperties(),
      getFileMetadata: (file) => this.raw(file.name, "GET", "comp=metadata"),
      listRanges: (file) => file.getRangeList(),
      putRange: (file) => file.uploadRange("x", 0, 1),
      clearRange: (file) => file.clearRange(0, 1),
      putRangeFromUrl: async (file) => file.uploadRangeFromURL((await this.other()).url, 0, 0, 1),
      setFileProperties: (file) => file.setHttpHeaders({ fileContentType: "text/x-file" }),
      resizeFile: (file) => file.resize(5),
      setFileMetadata: (file) => file.setMetadata({ a: "b" }),
      createFile: (file) => file.create(10),
      copyFile: async (file) => file.startCopyFromURL((await this.other()).url),
      copyFromFile: async (file) => (await this.other()).startCopyFromURL(file.url),
      deleteFile: (file) => file.delete(),
      renameFile: (file) => this.rename(file, `renamed${this.#others++}`, false),
      replaceFile: async (file) => this.rename(await this.other(), file.name, true),
      acquireFileLease: (file) => file.getShareLeaseClient(LEASE_ID).acquireLease(),
      listHandles: (file) => file.listHandles().next(),
    };
  }

  run(operation: FileOperation, file: ShareFileClient): Promise<unknown> {
    return this.#runs[operation](file);
  }

  /** Creates a file of ten bytes. */
  async other(): Promise<ShareFileClient> {
    const root = this.#server.client().getShareClient(this.#share).rootDirectoryClient;
    const file = root.getFileClient(`other${this.#others++}`);
    await file.create(10);
    return file;
  }

  rename(file: ShareFileClient, path: string, replaces: boolean): Promise<void> {
    return this.raw(path, "PUT", "comp=rename", {
      "x-ms-file-rename-source": file.url,
      "x-ms-file-rename-replace-if-exists": String(replaces),
    });
  }

  async raw(
    path: string,
    method: string,
    query: string,
    headers: Record<string, string> = {},
  ): Promise<void> {
    const asked = { method, path: `/${this.#share}/${path}?${query}`, headers };
    const { status, code } = await rawRequest(this.#server, asked);
    if (status >= 400) throw new RestError(code, { statusCode: status, code });
  }
}
