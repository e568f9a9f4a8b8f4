import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** A server elsewhere that serves one object, as slowly as a test needs. */
export class TestSource {
  readonly #server = createServer((request, response) => this.#answer(request, response));
  readonly #sent: (() => void)[] = [];
  /** The requests received, in order. */
  readonly asked: { readonly method: string; readonly headers: IncomingMessage["headers"] }[] = [];
  bytes: Buffer = Buffer.from("from elsewhere");
  etag = '"one"';
  headers: Record<string, string> = { "content-type": "text/x-elsewhere" };
  /** How many bytes it sends before it waits for `release`; null if it does not wait. */
  holdsAt: number | null = null;
  /** Whether it ignores If-Match and serves what it has. */
  ignoresMatch = false;
  /** The status it answers with. */
  status = 200;
  #release: () => void = () => {};
  #released: Promise<void> = Promise.resolve();

  static async start(): Promise<TestSource> {
    const source = new TestSource();
    await new Promise<void>((resolve) => source.#server.listen(0, "127.0.0.1", resolve));
    return source;
  }

  get origin(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  hold(bytes: number): void {
    this.holdsAt = bytes;
    this.#released = new Promise((resolve) => {
      this.#release = resolve;
    });
  }

  release(): void {
    this.#release();
  }

  /** Resolves once it has sent the bytes before its pause. */
  held(): Promise<void> {
    return new Promise((resolve) => this.#sent.push(resolve));
  }

  async close(): Promise<void> {
    this.#release();
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { method = "", headers } = request;
    this.asked.push({ method, headers });
    if (method === "GET" && this.holdsAt === 0) await this.#wait();
    const match = headers["if-match"];
    const isOther = match !== undefined && match !== this.etag && !this.ignoresMatch;
    if (isOther) return void response.writeHead(412).end();
    if (this.status !== 200) return void response.writeHead(this.status, this.headers).end();
    const range = /^bytes=(\d+)-(\d*)$/.exec(headers.range ?? "");
    const from = Number(range?.[1] ?? 0);
    const until = range?.[2]
      ? Math.min(Number(range[2]) + 1, this.bytes.length)
      : this.bytes.length;
    response.writeHead(range === null ? 200 : 206, {
      ...this.headers,
      etag: this.etag,
      "content-length": until - from,
      ...(range !== null && { "content-range": `bytes ${from}-${until - 1}/${this.bytes.length}` }),
    });
    if (method === "HEAD") return void response.end();
    const first = this.holdsAt ?? until;
    response.write(this.bytes.subarray(from, Math.min(until, first)));
    if (first > 0 && first < until) await this.#wait();
    response.end(this.bytes.subarray(Math.min(until, first), until));
  }

  async #wait(): Promise<void> {
    for (const tell of this.#sent.splice(0)) tell();
    await this.#released;
  }
}
