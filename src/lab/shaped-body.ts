import { type BorrowedBuffer, unowned } from "../base/borrowed-buffer.ts";
import type { Bytes } from "../base/bytes.ts";
import type { ResponseBody, ResponseStream, RestResponse } from "../front/rest/http/exchange.ts";

/** Slices of a slow body, per second. */
const SLICES_PER_SECOND = 10;
const SLICE_MS = 1_000 / SLICES_PER_SECOND;
/** Bytes that a body is asked for at a time. */
const STEP_BYTES = 64 * 1024;

/** How a body is sent. */
export interface BodyShape {
  /** Bytes after which the connection is cut; null for none. */
  readonly endsAfter: number | null;
  /** Null for as fast as the client reads. */
  readonly bytesPerSecond: number | null;
}

/** What a shaped body needs of its server. */
export interface Shaping {
  pause(ms: number): Promise<void>;
  /** Cuts the connection. */
  cut(): void;
}

/** The answer with its body cut short, or slowed down. One without a body is cut or sent at once. */
export function shapedAnswer(
  response: RestResponse,
  shape: BodyShape,
  shaping: Shaping,
): RestResponse {
  const body = streamOf(response.body);
  if (body === null) {
    if (shape.endsAfter !== null) shaping.cut();
    return response;
  }
  return { ...response, body: new ShapedBody(body, shape, shaping) };
}

class ShapedBody implements ResponseStream {
  /** Its slices are small: they need no budget. */
  readonly isAtHand = true;
  readonly length: number;
  readonly #body: ResponseStream;
  readonly #shape: BodyShape;
  readonly #shaping: Shaping;
  /** Copied bytes that were not handed out yet. */
  #ahead: Bytes = Buffer.alloc(0);
  #left: number;
  #isOver = false;

  constructor(body: ResponseStream, shape: BodyShape, shaping: Shaping) {
    this.length = body.length;
    this.#body = body;
    this.#shape = shape;
    this.#shaping = shaping;
    this.#left = Math.min(body.length, shape.endsAfter ?? body.length);
  }

  async borrow(): Promise<BorrowedBuffer | null> {
    const { bytesPerSecond, endsAfter } = this.#shape;
    if (this.#isOver) return null;
    if (this.#ahead.length === 0 && this.#left > 0) await this.#fill();
    const rate = bytesPerSecond ?? Number.POSITIVE_INFINITY;
    const size = Math.max(1, Math.floor(rate / SLICES_PER_SECOND));
    const part = this.#ahead.subarray(0, Math.min(size, this.#left));
    this.#ahead = this.#ahead.subarray(part.length);
    this.#left -= part.length;
    if (bytesPerSecond !== null) {
      await this.#shaping.pause(Math.max(SLICE_MS, (part.length * 1_000) / bytesPerSecond));
    }
    this.#isOver = this.#left === 0;
    if (!this.#isOver || endsAfter === null) return unowned([part]);
    // Released when the system has taken the bytes.
    return { ...unowned([part]), release: () => this.#shaping.cut() };
  }

  close(): void {
    this.#body.close();
  }

  async #fill(): Promise<void> {
    const borrowed = await this.#body.borrow(STEP_BYTES);
    if (borrowed === null) throw new Error("a body ended before its length");
    this.#ahead = Buffer.concat(borrowed.parts);
    borrowed.release();
  }
}

function streamOf(body: ResponseBody): ResponseStream | null {
  if (body === null) return null;
  if (typeof body === "object" && "borrow" in body) return body;
  const bytes = Buffer.from(body as string, "utf8");
  let isTaken = false;
  return {
    length: bytes.length,
    borrow: async () => {
      if (isTaken) return null;
      isTaken = true;
      return unowned([bytes]);
    },
    close() {},
  };
}
