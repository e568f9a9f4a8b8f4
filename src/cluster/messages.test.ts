import assert from "node:assert/strict";
import { test } from "node:test";
import { key, keyAfter, SPACE } from "../base/keys.ts";
import { type Store, StoreError } from "../store/store.ts";
import { StoreDecorator } from "../store/store-decorator.ts";
import { FrontEnds } from "./front-ends.fixture.ts";
import { Messages } from "./messages.ts";

type Loss = "the request" | "the answer";

/** A store that may lose the request or the answer of transactions. */
class LosingStore extends StoreDecorator {
  loss: Loss | null = null;

  override transact: Store["transact"] = async (body) => {
    if (this.loss === null) return this.inner.transact(body);
    if (this.loss === "the answer") await this.inner.transact(body);
    throw new StoreError("unknown", `${this.loss} was lost`);
  };
}

for (const loss of ["the request", "the answer"] as const) {
  test(`messages arrive once if ${loss} to their deletion is lost`, async (t) => {
    const ends = new FrontEnds();
    const { frontEnd, store } = await ends.add();
    const losing = new LosingStore(store);
    const messages = new Messages(losing, frontEnd);
    const received: string[] = [];
    messages.listen((message) => received.push(`${message}`));
    t.after(() => messages.close());
    const post = (text: string) =>
      ends.records.transact((tx) => messages.post(tx, frontEnd.epoch, Buffer.from(text)));
    losing.loss = loss;
    await post("one");
    while (received.length < 1) await new Promise(setImmediate);
    losing.loss = null;
    await post("two");
    while (received.length < 2) await new Promise(setImmediate);
    const all = key(SPACE.peerMessage);
    const left = () =>
      ends.records.read((view) => view.range(all, keyAfter(all), { limit: 1 }).length);
    while ((await left()) > 0) await new Promise(setImmediate);
    assert.deepEqual(received, ["one", "two"]);
  });
}
