import { randomBytes } from "node:crypto";
import type { Target } from "./server.ts";
import { signed } from "./shared-key.ts";

const SHARE = "/bench";
const SMALL = randomBytes(4 * 1024);

export function createShare(target: Target): Buffer {
  return signed(target.port, { method: "PUT", path: SHARE, query: { restype: "share" } });
}

export function createFile(target: Target, index: number, bytes = SMALL.length): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(index),
    headers: { "x-ms-type": "file", "x-ms-content-length": String(bytes) },
  });
}

/** Creates a file with 4 KiB of initial content. */
export function createFileWithBody(target: Target, index: number): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(index),
    headers: { "x-ms-type": "file", "x-ms-content-length": String(SMALL.length) },
    body: SMALL,
  });
}

/** Writes 4 KiB at the beginning, unless another body and offset are given. */
export function putRange(target: Target, index: number, body = SMALL, from = 0): Buffer {
  return signed(target.port, {
    method: "PUT",
    path: pathOf(index),
    query: { comp: "range" },
    headers: {
      "x-ms-write": "update",
      "x-ms-range": `bytes=${from}-${from + body.length - 1}`,
    },
    body,
  });
}

export function getFile(target: Target, index: number): Buffer {
  return signed(target.port, { method: "GET", path: pathOf(index) });
}

export function headFile(target: Target, index: number): Buffer {
  return signed(target.port, { method: "HEAD", path: pathOf(index) });
}

export function listFiles(target: Target, resultsMax: number): Buffer {
  const query = { restype: "directory", comp: "list", maxresults: String(resultsMax) };
  return signed(target.port, { method: "GET", path: SHARE, query });
}

function pathOf(index: number): string {
  return `${SHARE}/file-${String(index).padStart(6, "0")}`;
}
