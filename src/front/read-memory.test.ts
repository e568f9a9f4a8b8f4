import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { PAGE_BYTES, placeInAlignedMemory } from "../machine/aligned-bytes.ts";
import { ReadMemory } from "./read-memory.ts";

const memory = new ReadMemory({ shared: 16_384, own: 65_536, owners: 0 });

/** A client, and the connection as its server has got it. */
async function connected(t: TestContext) {
  const server = createServer({ pauseOnConnect: true }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const client = connect((server.address() as AddressInfo).port, "127.0.0.1");
  t.after(() => {
    client.destroy();
    server.close();
  });
  const [accepted] = (await once(server, "connection")) as [Socket];
  return { server, client, accepted };
}

test("everything that is sent is taken in its order, and the socket ends with the client", async (t) => {
  const { client, accepted } = await connected(t);
  const sent = Buffer.alloc(3_000_000, "what is sent ");
  const taken: Bytes[] = [];
  const take = (chunk: Bytes) => {
    taken.push(Buffer.from(chunk));
    return null;
  };
  const socket = memory.socketOf(accepted, { take, mayHold: () => false });
  client.end(sent);
  await once(socket.resume(), "close");
  assert.ok(Buffer.concat(taken).equals(sent));
});

test("what is held stays as it is, whatever comes next, here or elsewhere", async (t) => {
  const sent = [Buffer.alloc(2_000_000, "what one sends "), Buffer.alloc(2_000_000, "the other ")];
  const isFree = new Promise<void>((resolve) => t.after(() => resolve()));
  const ends = sent.map(async (bytes) => {
    const { client, accepted } = await connected(t);
    const held: Bytes[] = [];
    const take = (chunk: Bytes) => {
      // The first one comes before anybody knows that the next are to be held.
      held.push(held.length === 0 ? Buffer.from(chunk) : chunk);
      return isFree;
    };
    const socket = memory.socketOf(accepted, { take, mayHold: () => held.length > 0 });
    client.end(bytes);
    await once(socket.resume(), "close");
    return held;
  });
  const held = await Promise.all(ends);
  for (const [at, chunks] of held.entries()) {
    assert.ok(Buffer.concat(chunks).equals(sent[at] as Buffer));
  }
});

test("what may be held only since it was asked for is nobody else's, either", async (t) => {
  const held: Bytes[] = [];
  let mayHold = false;
  const [one, other] = [await connected(t), await connected(t)];
  const read = async (text: string, { client, accepted }: typeof one, keep: boolean) => {
    const taken = new Promise<Bytes>((resolve) => {
      const take = (chunk: Bytes) => {
        resolve(chunk);
        return keep ? new Promise<void>(() => {}) : null;
      };
      memory.socketOf(accepted, { take, mayHold: () => keep && mayHold }).resume();
    });
    mayHold = true;
    client.write(text);
    held.push(await taken);
  };
  await read("what is held", one, true);
  await read("something else", other, false);
  assert.equal(String(held[0]), "what is held");
});

test("a few have memory of their own, where what is said to begin a page does", async (t) => {
  const few = new ReadMemory({ shared: 16_384, own: 65_536, owners: 1 });
  const chunks: { chunk: Bytes; memory: Bytes | null }[] = [];
  const read = async ({ client, accepted }: Awaited<ReturnType<typeof connected>>) => {
    const taken = new Promise<void>((resolve) => {
      const take = (chunk: Bytes, memory: Bytes | null) => {
        chunks.push({ chunk, memory });
        resolve();
        return new Promise<void>(() => {});
      };
      few.socketOf(accepted, { take, mayHold: () => false, bytesBeforePage: 5_000 }).resume();
    });
    client.write("what is read");
    await taken;
  };
  await read(await connected(t));
  await read(await connected(t));
  const [own, shared] = chunks;
  const place = placeInAlignedMemory(own?.chunk as Bytes) as number;
  assert.equal((place + 5_000) % PAGE_BYTES, 0);
  assert.equal(own?.memory?.byteOffset, own?.chunk.byteOffset);
  assert.equal(own?.memory?.length, 65_536 - (PAGE_BYTES - (5_000 - PAGE_BYTES)));
  assert.equal(shared?.memory, null);
  assert.equal(placeInAlignedMemory(shared?.chunk as Bytes), null);
});

test("a socket that cannot be moved is read as it is", async (t) => {
  const { client, accepted } = await connected(t);
  Object.assign(accepted, { encrypted: false });
  const taken: Bytes[] = [];
  const take = (chunk: Bytes) => {
    taken.push(chunk);
    return null;
  };
  const socket = memory.socketOf(accepted, { take, mayHold: () => false });
  assert.equal(socket, accepted);
  client.end("what is sent");
  await once(socket.resume(), "close");
  assert.equal(String(Buffer.concat(taken)), "what is sent");
});

test("its server knows of the connection until it is closed", async (t) => {
  const { server, accepted } = await connected(t);
  const count = () =>
    new Promise<number>((resolve) => server.getConnections((_, found) => resolve(found)));
  const socket = memory.socketOf(accepted, { take: () => null, mayHold: () => false }).resume();
  assert.equal(await count(), 1);
  assert.equal(socket.remoteAddress, "127.0.0.1");
  socket.destroy();
  await once(accepted, "close");
  assert.equal(await count(), 0);
});
