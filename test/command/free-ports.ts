import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

const HOST = "127.0.0.1";
/** Below the ports that systems give to clients, and to servers that ask for any port. */
const [FIRST, LAST] = [16_384, 32_767];
/** Tries in a row without success. */
const TRIES_MAX = 1_000;

/**
 * Ports of loopback for servers that cannot choose their own, that come back at the same one, or
 * that are to be gone. They are this process's while it lives: it holds the ports of UDP with the
 * same numbers, which keeps away others that choose ports here.
 */
export async function freePorts(count: number): Promise<number[]> {
  const ports: number[] = [];
  while (ports.length < count) ports.push(await freePort());
  return ports;
}

export async function freePort(): Promise<number> {
  for (let tries = 0; tries < TRIES_MAX; tries++) {
    const port = randomInt(FIRST, LAST + 1);
    if ((await claim(port)) && (await isUnused(port))) return port;
  }
  throw new Error(`no port is free from ${FIRST} to ${LAST}`);
}

/** Whether no other process had it, nor this one. */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket("udp4").bind({ port, address: HOST, exclusive: true });
  socket.unref();
  return once(socket, "listening").then(
    () => true,
    () => {
      socket.close();
      return false;
    },
  );
}

/** Whether no program listens there: one that knows nothing of claims, or that outlived its test. */
async function isUnused(port: number): Promise<boolean> {
  const probe = createServer().listen(port, HOST);
  try {
    await once(probe, "listening");
  } catch {
    return false;
  }
  await once(probe.close(), "close");
  return true;
}
