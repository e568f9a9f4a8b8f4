import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What is done with a request: it may be executed, and its answer lost on the way back. */
export type Passed = "answered" | "answer lost";

/** Sees each request, as `PUT /account/box?comp=acl`, before the server does. */
export type Meddle = (line: string) => Promise<Passed | undefined> | Passed | undefined;

/** Runs a proxy in front of a service meanwhile; `body` gets the URL to use instead of `url`. */
export async function withProxy<T>(
  url: string,
  meddle: Meddle,
  body: (url: string) => Promise<T>,
): Promise<T> {
  const { port, pathname } = new URL(url);
  const server = createServer((incoming, outgoing) => {
    pass(incoming, outgoing, Number(port), meddle).catch(() => incoming.socket.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  try {
    const own = (server.address() as AddressInfo).port;
    return await body(`http://127.0.0.1:${own}${pathname}`);
  } finally {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  }
}

async function pass(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  port: number,
  meddle: Meddle,
): Promise<void> {
  const { method = "", url: path = "", headers } = incoming;
  const passed = await meddle(`${method} ${decodeURIComponent(path)}`);
  const forwarded = request({ host: "127.0.0.1", port, method, path, headers, agent: false });
  forwarded.on("error", () => incoming.socket.destroy());
  forwarded.on("response", (response) => {
    if (passed === "answer lost") {
      response.resume();
      response.on("end", () => incoming.socket.destroy());
      return;
    }
    outgoing.writeHead(response.statusCode ?? 0, response.rawHeaders);
    response.pipe(outgoing);
  });
  incoming.pipe(forwarded);
}
