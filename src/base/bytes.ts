/** Bytes as everything below and above the store sees them. */
export type Bytes = Buffer;

export const NO_BYTES: Bytes = Buffer.alloc(0);

/** A body on its way in. It can be taken once. */
export interface Body {
  /** How many bytes will come; known before the first of them. */
  readonly length: number;
  /** Whether the sender waits to be asked before it sends anything. */
  readonly isHeldBack?: boolean;
  /**
   * Hands over each part in order. The next part comes once the promise for the one before has
   * settled, so a slow taker slows the sender down. A part is the taker's until then: the sender may
   * use its memory again, so whoever keeps bytes copies them. Rejects if the sender stops short, but
   * not while a part is still being taken.
   */
  drain(take: (part: Bytes) => void | Promise<void>): Promise<void>;
  /**
   * All of it, if it is here already: then nothing need be copied. It is the taker's until its sender
   * is answered. Otherwise null, and it can still be drained.
   */
  takeWhole?(): Bytes | null;
  /**
   * The same with the memory behind it, so much in all, which is the taker's to write to: if it begins
   * on a page of aligned memory, and nothing else lies there.
   */
  takePages?(bytes: number): Bytes | null;
}

/** All bytes of a body, as long as its sender waits for an answer. */
export async function collect(body: Body): Promise<Bytes> {
  const here = body.takeWhole?.() ?? null;
  if (here !== null) return here;
  const bytes = Buffer.allocUnsafeSlow(body.length);
  let at = 0;
  await body.drain((part) => {
    if (at + part.length > bytes.length) throw new Error("a body is longer than it said");
    at += part.copy(bytes, at);
  });
  if (at < bytes.length) throw new Error("a body ended too early");
  return bytes;
}

/** A body whose bytes are all here already. */
export function wholeBody(bytes: Bytes): Body {
  return {
    length: bytes.length,
    async drain(take) {
      if (bytes.length > 0) await take(bytes);
    },
  };
}
