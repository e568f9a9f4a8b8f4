import { chmodSync, mkdtempSync, rmSync } from "node:fs";
import { createConnection, createServer, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const SOCKET = ".s.PGSQL.5432";

/** A way to a PostgreSQL server on which every request takes longer. */
export interface DelayedSocket {
  /** The folder of its Unix socket. */
  readonly folder: string;
  close(): Promise<void>;
}

/** Passes what clients send on `ms` milliseconds later, and answers at once. */
export async function delaySocket(serverFolder: string, ms: number): Promise<DelayedSocket> {
  const folder = mkdtempSync(join(tmpdir(), "lazuli-delay-"));
  // The standby runs as another user.
  chmodSync(folder, 0o755);
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = createConnection(join(serverFolder, SOCKET));
    for (const [socket, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => {});
      socket.on("close", () => other.destroy());
    }
    near.on("data", (data) => setTimeout(() => far.write(data), ms));
    far.on("data", (data) => near.write(data));
  });
  await new Promise<void>((resolve) => {
    server.listen({ path: join(folder, SOCKET), readableAll: true, writableAll: true }, resolve);
  });
  return {
    folder,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
      rmSync(folder, { recursive: true });
    },
  };
}
