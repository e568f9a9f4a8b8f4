import assert from "node:assert/strict";
import { KIB, LIST_BYTES_MAX, MIB } from "../../../base/limits.ts";
import { SendBudget } from "../../send-budget.ts";
import { XmlBytes } from "../xml/xml-bytes.ts";
import type { RestRequest, RestResponse } from "./exchange.ts";
import { GET, type Handle, listen, testOnBoth } from "./listener.fixture.ts";

/** Documents that may be rendered at a time. */
const AT_ONCE = 3;
const CLIENTS = 12;
const LONG_BYTES = 2 * MIB;
const ITEM = "x".repeat(16 * KIB);

/**
 * Renders documents, and counts how many of them are long and not finished. The first long ones
 * wait for each other, so that as many as may are rendered at the same time.
 */
class Renderers {
  most = 0;
  #long = 0;
  #onMet = () => {};
  readonly #met = new Promise<void>((resolve) => {
    this.#onMet = resolve;
  });

  async render({ rendering }: RestRequest, bytes: number): Promise<RestResponse> {
    const xml = new XmlBytes(null, rendering);
    let isLong = false;
    try {
      for (let added = 0; added < bytes; added += ITEM.length) {
        await xml.addAll([ITEM], (item) => item);
        if (isLong || added <= 128 * KIB) continue;
        isLong = true;
        this.most = Math.max(this.most, ++this.#long);
        if (this.#long === AT_ONCE) this.#onMet();
        await this.#met;
      }
      return { status: 200, headers: [], body: xml.done() };
    } finally {
      if (isLong) this.#long--;
    }
  }
}

const options = () => ({
  options: { budget: new SendBudget({ renderingBytesMax: AT_ONCE * LIST_BYTES_MAX }) },
});

testOnBoth("few long documents are rendered at a time, and all are sent", async (t) => {
  const renderers = new Renderers();
  const handle: Handle = (request) => renderers.render(request, LONG_BYTES);
  const running = await listen(t, handle, options());
  const clients = Array.from({ length: CLIENTS }, () => running.connect().send(GET));
  for (const client of clients) assert.equal((await client.answer()).body.length, LONG_BYTES);
  assert.equal(renderers.most, AT_ONCE);
});

testOnBoth("a short document waits for no long one", async (t) => {
  const renderers = new Renderers();
  let go = () => {};
  const stopped = new Promise<void>((resolve) => {
    go = resolve;
  });
  const handle: Handle = async (request) => {
    if (request.path === "/short") return renderers.render(request, 32 * KIB);
    const answer = await renderers.render(request, LONG_BYTES);
    await stopped;
    return answer;
  };
  const running = await listen(t, handle, options());
  const long = Array.from({ length: CLIENTS }, () => running.connect().send(GET));
  const short = running.connect().send(GET.replace("/a/c/b", "/short"));
  assert.equal((await short.answer()).body.length, 32 * KIB);
  go();
  for (const client of long) assert.equal((await client.answer()).body.length, LONG_BYTES);
});

testOnBoth("a long document that fails leaves its memory to others", async (t) => {
  const renderers = new Renderers();
  const handle: Handle = async (request) => {
    await renderers.render(request, LONG_BYTES);
    throw new Error("broken");
  };
  const running = await listen(t, handle, options());
  const clients = Array.from({ length: CLIENTS }, () => running.connect().send(GET));
  for (const client of clients) assert.equal((await client.answer()).status, 500);
  assert.equal(running.failures.length, CLIENTS);
});
