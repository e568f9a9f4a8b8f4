import type { Bytes } from "../base/bytes.ts";
import type { Body } from "./item.ts";
import type { Asked, RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

export interface RemoteBody extends Body {
  /** The request that reads all of it. */
  readonly asked: Asked;
}

/** The bytes of a blob or file of an account, which are fetched when they are read. */
export function remoteBody(client: RestClient, asked: Asked, bytes: number): RemoteBody {
  return {
    bytes,
    asked,
    read: (from = 0, count = bytes - from) => fetchRange(client, asked, bytes, from, count),
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
): AsyncGenerator<Bytes> {
  if (count === 0) return;
  const isWhole = from === 0 && count === bytes;
  const range = isWhole ? {} : { "x-ms-range": `bytes=${from}-${from + count - 1}` };
  const headers = { ...asked.headers, ...range };
  const { stream } = await client.request({ ...asked, headers, streams: true });
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
