/** A run of bytes in memory, in every layer. */
export type Bytes = Buffer;

export const NO_BYTES: Bytes = Buffer.alloc(0);

/** An incoming body. It can be taken once. */
export interface Body {
  /** The number of bytes, known before the first one arrives. */
  readonly length: number;
  /** Whether the sender waits to be asked first, as after `Expect: 100-continue`. */
  readonly isHeldBack?: boolean;
  /**
   * Passes each part to `take`, in order. The next part comes once the promise of the last one has
   * settled, so a slow taker slows the sender down. After that the sender reuses the memory of a
   * part, so a taker that needs the bytes longer copies them. Rejects if the sender stops early,
   * but not while a part is being taken.
   */
  drain(take: (part: Bytes) => void | Promise<void>): Promise<void>;
  /**
   * Returns the whole body without a copy, if it has arrived, and behind it `room` bytes of memory
   * that the taker may overwrite (default 0). The taker may use it until the sender is answered.
   * Otherwise null, and the body can still be drained.
   */
  takeWhole?(room?: number): Bytes | null;
}

/** Collects all bytes of a body. They are valid until its sender is answered. */
export async function collect(body: Body): Promise<Bytes> {
  const here = body.takeWhole?.() ?? null;
  if (here !== null) return here;
  const bytes = Buffer.allocUnsafeSlow(body.length);
  let at = 0;
  await body.drain((part) => {
    if (at + part.length > bytes.length) throw new Error("a body is longer than announced");
    at += part.copy(bytes, at);
  });
  if (at < bytes.length) throw new Error("a body ended too early");
  return bytes;
}

/** A body made of bytes in memory. */
export function wholeBody(bytes: Bytes): Body {
  return {
    length: bytes.length,
    async drain(take) {
      if (bytes.length > 0) await take(bytes);
    },
    takeWhole: (room = 0) => (room === 0 ? bytes : null),
  };
}
