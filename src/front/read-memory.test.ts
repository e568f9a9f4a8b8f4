import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import type { Bytes } from "../base/bytes.ts";
import { PAGE_BYTES, placeInAlignedMemory } from "../machine/aligned-bytes.ts";
import { ReadMemory } from "./read-memory.ts";

const memory = new ReadMemory({ shared: 16_384, own: 65_536, owners: 0 });

/** A client, and the socket that its server has accepted. */
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

test("the reader gets all bytes in order, and the socket ends with the client", async (t) => {
  const { client, accepted } = await connected(t);
  const sent = Buffer.alloc(3_000_000, "what is sent ");
  const taken: Bytes[] = [];
  const take = (chunk: Bytes) => {
    taken.push(Buffer.from(chunk));
    return null;
  };
  const socket = memory.socketOf(accepted, { take, mayBorrow: () => false });
  client.end(sent);
  await once(socket.resume(), "close");
  assert.ok(Buffer.concat(taken).equals(sent));
});

test("a borrowed chunk does not change while this and other sockets read on", async (t) => {
  const sent = [Buffer.alloc(2_000_000, "what one sends "), Buffer.alloc(2_000_000, "the other ")];
  const isFree = new Promise<void>((resolve) => t.after(() => resolve()));
  const ends = sent.map(async (bytes) => {
    const { client, accepted } = await connected(t);
    const held: Bytes[] = [];
    const take = (chunk: Bytes) => {
      // The first chunk comes before the reader may borrow: it is copied.
      held.push(held.length === 0 ? Buffer.from(chunk) : chunk);
      return isFree;
    };
    const socket = memory.socketOf(accepted, { take, mayBorrow: () => held.length > 0 });
    client.end(bytes);
    await once(socket.resume(), "close");
    return held;
  });
  const held = await Promise.all(ends);
  for (const [at, chunks] of held.entries()) {
    assert.ok(Buffer.concat(chunks).equals(sent[at] as Buffer));
  }
});

test("a chunk that was read into shared memory is copied before it may be borrowed", async (t) => {
  const held: Bytes[] = [];
  let mayBorrow = false;
  const [one, other] = [await connected(t), await connected(t)];
  const read = async (text: string, { client, accepted }: typeof one, keep: boolean) => {
    const taken = new Promise<Bytes>((resolve) => {
      const take = (chunk: Bytes) => {
        resolve(chunk);
        return keep ? new Promise<void>(() => {}) : null;
      };
      memory.socketOf(accepted, { take, mayBorrow: () => keep && mayBorrow }).resume();
    });
    mayBorrow = true;
    client.write(text);
    held.push(await taken);
  };
  await read("what is held", one, true);
  await read("something else", other, false);
  assert.equal(String(held[0]), "what is held");
});

test("owners read into aligned memory, and the expected byte begins a page", async (t) => {
  const few = new ReadMemory({ shared: 16_384, own: 65_536, owners: 1 });
  const chunks: { chunk: Bytes; memory: Bytes | null }[] = [];
  const read = async ({ client, accepted }: Awaited<ReturnType<typeof connected>>) => {
    const taken = new Promise<void>((resolve) => {
      const take = (chunk: Bytes, memory: Bytes | null) => {
        chunks.push({ chunk, memory });
        resolve();
        return new Promise<void>(() => {});
      };
      few.socketOf(accepted, { take, mayBorrow: () => false, bytesBeforePage: 5_000 }).resume();
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

test("an encrypted socket is read as it is", async (t) => {
  const { client, accepted } = await connected(t);
  Object.assign(accepted, { encrypted: false });
  const taken: Bytes[] = [];
  const take = (chunk: Bytes) => {
    taken.push(chunk);
    return null;
  };
  const socket = memory.socketOf(accepted, { take, mayBorrow: () => false });
  assert.equal(socket, accepted);
  client.end("what is sent");
  await once(socket.resume(), "close");
  assert.equal(String(Buffer.concat(taken)), "what is sent");
});

test("the server counts the connection until it is closed", async (t) => {
  const { server, accepted } = await connected(t);
  const count = () =>
    new Promise<number>((resolve) => server.getConnections((_, found) => resolve(found)));
  const socket = memory.socketOf(accepted, { take: () => null, mayBorrow: () => false }).resume();
  assert.equal(await count(), 1);
  assert.equal(socket.remoteAddress, "127.0.0.1");
  socket.destroy();
  await once(accepted, "close");
  assert.equal(await count(), 0);
});
