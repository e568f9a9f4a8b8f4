import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { AnyOf } from "../../src/base/any-of.fixture.ts";

/** Where clients connect to. */
export interface Door {
  readonly port: number;
  close(): Promise<void>;
}

/** Passes each connection on to another of several ports, as a balancer does. One port is itself. */
export async function doorTo(ports: readonly number[]): Promise<Door> {
  const chosen = new AnyOf(ports);
  if (ports.length === 1) return { port: chosen.next(), close: async () => {} };
  const server = createServer((client) => join(client, connect(chosen.next(), "127.0.0.1")));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    close: () => new Promise((resolve) => server.close(() => resolve())),
  };
}

/** Either side ends with the other, after all that was sent. */
function join(client: Socket, server: Socket): void {
  for (const [from, to] of [
    [client, server],
    [server, client],
  ] as const) {
    // Ignored: "close" follows every error.
    from.setNoDelay(true).on("error", () => {});
    from.pipe(to, { end: false });
    from.once("close", () => to.end(() => to.destroy()));
  }
}
