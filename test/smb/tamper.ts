import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { FrameReader } from "../../src/front/smb/frame-reader.ts";

/** Receives each frame on its way, and returns the frame to send instead. */
export type Tamper = (frame: Buffer, from: "client" | "server") => Buffer;

export interface Proxy {
  readonly port: number;
  close(): Promise<void>;
}

/** A man in the middle between the clients and the server. */
export async function startProxy(serverPort: number, tamper: Tamper): Promise<Proxy> {
  const sockets = new Set<Socket>();
  const server = createServer((client) => {
    const upstream = connect(serverPort, "127.0.0.1");
    for (const [one, other, from] of [
      [client, upstream, "client"],
      [upstream, client, "server"],
    ] as const) {
      const reader = new FrameReader(() => true);
      sockets.add(one);
      one.on("data", (chunk) => {
        for (const frame of reader.take(chunk)) other.write(framed(tamper(frame, from)));
      });
      one.on("error", () => {});
      one.on("close", () => other.destroy());
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    port: (server.address() as AddressInfo).port,
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function framed(frame: Buffer): Buffer {
  const prefix = Buffer.alloc(4);
  prefix.writeUInt32BE(frame.length);
  return Buffer.concat([prefix, frame]);
}
