import { randomBytes } from "node:crypto";
import type { Target } from "./server.ts";
import { ACCOUNT, signed } from "./shared-key.ts";

const FILESYSTEM = "/lake";
const SMALL = randomBytes(4 * 1024);

/** Requests of the Data Lake protocol; `target.port` is the port of its endpoint. */

export function createFilesystem(target: Target): Buffer {
  const query = { resource: "filesystem" };
  return signed(target.port, { method: "PUT", path: FILESYSTEM, query });
}

export function createPath(target: Target, path: string, resource: "file" | "directory"): Buffer {
  return signed(target.port, { method: "PUT", path: `${FILESYSTEM}/${path}`, query: { resource } });
}

export function renamePath(target: Target, from: string, to: string): Buffer {
  const source = `/${ACCOUNT}${FILESYSTEM}/${from}`;
  return signed(target.port, {
    method: "PUT",
    path: `${FILESYSTEM}/${to}`,
    headers: { "x-ms-rename-source": source },
  });
}

export function readPath(target: Target, path: string): Buffer {
  const accept = "application/json";
  return signed(target.port, { method: "GET", path: `${FILESYSTEM}/${path}`, accept });
}

/** Appends 4 KiB at the beginning of a file. */
export function appendData(target: Target, path: string): Buffer {
  const query = { action: "append", position: "0" };
  return signed(target.port, {
    method: "PATCH",
    path: `${FILESYSTEM}/${path}`,
    query,
    body: SMALL,
  });
}

/** Makes these 4 KiB a part of the file. */
export function flushData(target: Target, path: string): Buffer {
  const query = { action: "flush", position: String(SMALL.length) };
  return signed(target.port, { method: "PATCH", path: `${FILESYSTEM}/${path}`, query });
}

export function listPaths(target: Target, directory: string, maxResults: number): Buffer {
  const query = {
    resource: "filesystem",
    recursive: "false",
    directory,
    maxresults: String(maxResults),
  };
  return signed(target.port, { method: "GET", path: FILESYSTEM, query });
}

/** Put Blob of 4 KiB, or of fewer bytes. It creates the directories above. */
export function putFile(target: Target, path: string, bytes = SMALL.length): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: `${FILESYSTEM}/${path}`,
    headers: { "x-ms-blob-type": "BlockBlob" },
    body: SMALL.subarray(0, bytes),
  });
}
