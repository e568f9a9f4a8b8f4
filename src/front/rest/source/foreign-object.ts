import type { IncomingMessage } from "node:http";
import { Fault } from "../../../base/fault.ts";
import type { SourceObject } from "../../../service/shared/source.ts";
import { metadataOf as metadataIn } from "../request-headers.ts";
import { cannotVerify } from "./cannot-verify.ts";

const TYPES = ["BlockBlob", "PageBlob", "AppendBlob"] as const;

type AnswerHead = Pick<IncomingMessage, "headers" | "rawHeaders">;

/** Reads the properties of an object from another server's response headers. */
export function objectOf(
  { headers, rawHeaders }: AnswerHead,
  length: string | undefined,
): SourceObject {
  if (length === undefined || !/^\d{1,15}$/.test(length)) {
    throw new Fault("CopySourceInvalid", {
      Reason: "The source's server does not say how long it is (Content-Length).",
    });
  }
  const text = (name: string) => String(headers[name] ?? "");
  const md5 = Buffer.from(text("content-md5"), "base64");
  const sequence = text("x-ms-blob-sequence-number");
  const blocks = text("x-ms-blob-committed-block-count");
  return {
    type: TYPES.find((type) => type === headers["x-ms-blob-type"]) ?? "BlockBlob",
    length: Number(length),
    etag: headers.etag ?? null,
    properties: {
      contentType: text("content-type"),
      contentEncoding: text("content-encoding"),
      contentLanguage: text("content-language"),
      contentDisposition: text("content-disposition"),
      cacheControl: text("cache-control"),
      contentMd5: md5.length === 16 ? md5 : null,
    },
    metadata: metadataOf(rawHeaders),
    tags: [],
    sequenceNumber: /^\d{1,18}$/.test(sequence) ? BigInt(sequence) : 0n,
    appendedBlocks: /^\d{1,5}$/.test(blocks) ? Number(blocks) : 0,
    isSealed: text("x-ms-blob-sealed") === "true",
  };
}

/**
 * Reads metadata from the raw headers, which keep the case of names. Metadata that is invalid on a
 * blob makes the copy fail.
 */
function metadataOf(rawHeaders: readonly string[]): [string, string][] {
  try {
    return metadataIn({ raw: rawHeaders });
  } catch (error) {
    throw error instanceof Fault ? cannotVerify(error, "read") : error;
  }
}
