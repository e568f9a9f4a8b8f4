import type { GetBlobDone } from "../../../service/blob/get-blob.ts";
import { withOverrides } from "../content-properties.ts";
import type { RestResponse } from "../http/exchange.ts";
import { digestHeaders } from "../response-headers.ts";
import { sentBody } from "../stored-body.ts";

/** How a client asked for the bytes of a blob. */
export interface AskedReading {
  readonly isRange: boolean;
  /** The form of a structured body; null for plain bytes. */
  readonly form: string | null;
  /** Headers that a SAS prescribes. */
  readonly overrides: readonly string[];
  /** The header for the MD5 of the whole blob: in a part, Content-MD5 covers the part. */
  readonly wholeMd5: string;
}

/** The answer to a read of a blob or a part of it. `headers` are those of the blob itself. */
export function readingAnswer(
  done: GetBlobDone,
  headers: string[],
  { isRange, form, overrides, wholeMd5 }: AskedReading,
): RestResponse {
  headers.push(...(isRange ? partHeaders(done, wholeMd5) : wholeHeaders(done)));
  const sent = sentBody(done.reading, form);
  headers.push(...sent.headers);
  return {
    status: isRange ? 206 : 200,
    headers: withOverrides(headers, overrides),
    body: sent.body,
  };
}

function wholeHeaders({ blob }: GetBlobDone): string[] {
  return digestHeaders({ md5: blob.properties.contentMd5, crc64: null });
}

function partHeaders({ blob, from, reading, md5, crc64 }: GetBlobDone, wholeMd5: string): string[] {
  const to = from + reading.length - 1;
  const headers = ["Content-Range", `bytes ${from}-${to}/${blob.content.length}`];
  headers.push(...digestHeaders({ md5, crc64 }));
  const whole = blob.properties.contentMd5;
  if (whole !== null) headers.push(wholeMd5, whole.toString("base64"));
  return headers;
}
