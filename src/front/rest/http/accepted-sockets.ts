import type { Server, Socket } from "node:net";
import { ConnectionTable, type Counted } from "../../connection-table.ts";

/** A connection of either listener. */
export interface ListenerConnection extends Counted {
  /** Called at intervals, with the time that has passed since the last call. */
  wait(ms: number): void;
}

/** Makes a connection from a socket that is ready for requests. */
type Greet = (socket: Socket, isSurplus: boolean) => ListenerConnection & { socket: Socket };

/**
 * The sockets that a listener has accepted. Each one counts from its first byte on, a TLS
 * connection already while it shakes hands.
 */
export class AcceptedSockets extends ConnectionTable<ListenerConnection> {
  /** By the client's address and port. */
  readonly #handshakes = new Map<string, Handshake>();

  /** Counts the connections of `server`, and calls `greet` when one is ready for requests. */
  watch(server: Server, isSecure: boolean, greet: Greet): void {
    if (isSecure) server.on("connection", (socket) => this.#beginHandshake(socket));
    const ready = isSecure ? "secureConnection" : "connection";
    server.prependListener(ready, (socket: Socket) => this.#greet(socket, greet));
  }

  #beginHandshake(socket: Socket): void {
    const handshake = new Handshake(socket);
    const client = clientOf(socket);
    handshake.isSurplus = !this.add(handshake);
    this.#handshakes.set(client, handshake);
    socket.once("close", () => {
      this.remove(handshake);
      this.#handshakes.delete(client);
    });
  }

  #greet(socket: Socket, greet: Greet): void {
    const client = clientOf(socket);
    const handshake = this.#handshakes.get(client) ?? this.#added(socket);
    this.#handshakes.delete(client);
    const connection = greet(socket, handshake.isSurplus);
    this.replace(handshake, connection);
    connection.socket.once("close", () => this.remove(connection));
  }

  #added(socket: Socket): Handshake {
    const handshake = new Handshake(socket);
    handshake.isSurplus = !this.add(handshake);
    return handshake;
  }
}

/** A connection on which no request can come yet. */
class Handshake implements ListenerConnection {
  readonly remoteAddress: string;
  readonly idleRank = 0;
  isSurplus = false;
  readonly #socket: Socket;

  constructor(socket: Socket) {
    this.#socket = socket;
    this.remoteAddress = remoteAddressOf(socket);
  }

  close(): void {
    this.#socket.destroy();
  }

  /** Node itself ends a TLS handshake that takes too long. */
  wait(): void {}
}

function clientOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}

const MAPPED_IPV4 = "::ffff:";

/** An IPv4 client has its IPv4 address also on a socket that takes IPv6. */
export function remoteAddressOf({ remoteAddress = "" }: Socket): string {
  return remoteAddress.startsWith(MAPPED_IPV4)
    ? remoteAddress.slice(MAPPED_IPV4.length)
    : remoteAddress;
}
