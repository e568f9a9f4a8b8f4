import { createServer, type Server } from "node:net";
import { createServer as createSecureServer } from "node:tls";
import { KIB } from "../../../base/limits.ts";
import { ReadMemory } from "../../read-memory.ts";
import type { AcceptedSockets } from "./accepted-sockets.ts";
import { Connection, type ConnectionOwner } from "./connection.ts";
import type { Exchanges } from "./exchanges.ts";
import { beginExchange } from "./http-exchange.ts";
import type { ListenerLimits } from "./limits.ts";
import type { TlsOptions } from "./tls-settings.ts";
import { tlsSettings } from "./tls-settings.ts";

/** The read size of connections that share memory: what they read is copied. */
const SHARED_READ_BYTES = 16 * KIB;
/** A page for the end of a head, 64 KiB of a body, and a page for padding behind it. */
const OWN_READ_BYTES = 72 * KIB;
/** Connections that get their own read memory. */
const OWNERS = 128;

/** The memory that the connections of a server read into. Its listeners share it. */
export function restReadMemory(): ReadMemory {
  return new ReadMemory({ shared: SHARED_READ_BYTES, own: OWN_READ_BYTES, owners: OWNERS });
}

/** A server whose requests are read by our own parser. */
export function ownServer(exchanges: Exchanges, sockets: AcceptedSockets): Server {
  const { limits, options } = exchanges;
  const owner: ConnectionOwner = {
    limits,
    readMemory: options.readMemory,
    get closing() {
      return exchanges.closing;
    },
    serve: (connection, head) => beginExchange(exchanges, connection, head),
    rested: (connection) => sockets.rested(connection),
    noteRefusal: (connection, status) => exchanges.noteRefusal(connection, status),
  };
  const server = options.tls === null ? plainServer() : secureServer(options.tls, limits);
  sockets.watch(
    server,
    options.tls !== null,
    (socket, isSurplus) => new Connection(socket, owner, isSurplus),
  );
  return server;
}

const SERVER_TRAITS = {
  // A client may end its side and still read the answer.
  allowHalfOpen: true,
  noDelay: true,
  // Detects clients that disappeared without closing the connection.
  keepAlive: true,
};

function plainServer(): Server {
  // Reading begins when the socket has memory of ours to read into.
  return createServer({ ...SERVER_TRAITS, pauseOnConnect: true });
}

function secureServer(tls: TlsOptions, limits: ListenerLimits): Server {
  return createSecureServer({ ...SERVER_TRAITS, ...tlsSettings(tls, limits) }).on(
    "tlsClientError",
    (_, socket) => socket.destroy(),
  );
}
