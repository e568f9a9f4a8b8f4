import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import type { AcceptedSockets } from "./accepted-sockets.ts";
import type { Exchanges } from "./exchanges.ts";
import { NodeConnection } from "./node-connection.ts";
import { tlsSettings } from "./tls-settings.ts";

/**
 * A server whose requests are read by Node's own HTTP parser (`--listener node`). Exchanges, limits
 * and refusals are the same; what Node's parser refuses by itself gets a status without a body.
 */
export function nodeServer(exchanges: Exchanges, sockets: AcceptedSockets): Server {
  const { options } = exchanges;
  const server = newServer(exchanges);
  const connections = new WeakMap<object, NodeConnection>();
  sockets.watch(server, options.tls !== null, (socket, isSurplus) => {
    const connection = new NodeConnection(socket, exchanges, sockets, isSurplus);
    connections.set(socket, connection);
    return connection;
  });
  const serve = (request: IncomingMessage, response: ServerResponse) => {
    connections.get(request.socket)?.serve(request, response);
  };
  server.on("request", serve).on("checkContinue", serve).on("checkExpectation", serve);
  server.on("clientError", (error: NodeJS.ErrnoException, socket) => {
    const connection = connections.get(socket);
    // No connection: the TLS handshake has failed.
    if (connection === undefined) socket.destroy();
    else connection.fail(error.code ?? "");
  });
  return server;
}

function newServer({ limits, options: { tls } }: Exchanges): Server {
  const settings = {
    maxHeaderSize: limits.headerBytesMax,
    headersTimeout: limits.headersMs,
    connectionsCheckingInterval: limits.headersCheckMs,
    keepAliveTimeout: limits.keepAliveMs,
    // A body may take any time: `Pace` closes clients that are too slow.
    requestTimeout: 0,
    // `headOf` refuses requests without a host, with the service's error.
    requireHostHeader: false,
    insecureHTTPParser: false,
    noDelay: true,
    // Detects clients that disappeared without closing the connection.
    keepAlive: true,
  };
  const server =
    tls === null
      ? createServer(settings)
      : createSecureServer({ ...settings, ...tlsSettings(tls, limits) });
  // Node would silently drop headers beyond its limit; `maxHeaderSize` bounds them already.
  server.maxHeadersCount = 0;
  // A client may end its side and still read the answer. Node has the setting, its types do not.
  return Object.assign(server, { httpAllowHalfOpen: true });
}
