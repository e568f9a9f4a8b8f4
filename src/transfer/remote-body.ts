import type { Bytes } from "../base/bytes.ts";
import type { Body } from "./item.ts";
import type { Asked, RestClient } from "./rest-client.ts";
import { ChangedError, TransferError } from "./transfer-error.ts";

export interface RemoteBody extends Body {
  /** The request that reads all of it. */
  readonly asked: Asked;
}

/**
 * The bytes of a blob or file of an account, which are fetched when they are read. Reads of a file
 * take no conditions: the answer must have this `etag`, if it is given.
 */
export function remoteBody(
  client: RestClient,
  asked: Asked,
  bytes: number,
  etag?: string,
): RemoteBody {
  return {
    bytes,
    asked,
    read: (from = 0, count = bytes - from) => fetchRange(client, asked, bytes, from, count, etag),
  };
}

export function isRemoteBody(body: Body): body is RemoteBody {
  return "asked" in body;
}

async function* fetchRange(
  client: RestClient,
  asked: Asked,
  bytes: number,
  from: number,
  count: number,
  etag: string | undefined,
): AsyncGenerator<Bytes> {
  if (count === 0) return;
  const isWhole = from === 0 && count === bytes;
  const range = isWhole ? {} : { "x-ms-range": `bytes=${from}-${from + count - 1}` };
  const headers = { ...asked.headers, ...range };
  const { stream, header } = await client.request({ ...asked, headers, streams: true });
  if (etag !== undefined && header("etag") !== etag) throw await changed(stream);
  let got = 0;
  try {
    for await (const part of stream) {
      got += part.length;
      yield part;
    }
  } catch (error) {
    throw new TransferError(`The download broke off (${(error as Error).message}). Try again.`);
  }
  if (got !== count) throw new TransferError(`The download has ${got} bytes instead of ${count}.`);
}

/** Ends the answer, which nobody reads. */
async function changed(stream: AsyncIterable<Bytes>): Promise<ChangedError> {
  for await (const _ of stream) break;
  return new ChangedError();
}
