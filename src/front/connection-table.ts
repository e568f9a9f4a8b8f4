import { isIPv6 } from "node:net";

/** A connection as its listener counts it. */
export interface Counted {
  readonly remoteAddress: string;
  /** Idle connections of a lower rank are closed first. Null while the connection is busy. */
  readonly idleRank: number | null;
  close(): void;
}

export interface TableLimits {
  readonly connectionsMax: number;
  /** From one address. Connections of this machine are not counted. */
  readonly connectionsPerAddressMax: number;
}

/**
 * The connections of a listener. If there is no room for a new one, the longest idle one is closed,
 * so that clients with unused connections lock nobody out.
 */
export class ConnectionTable<T extends Counted> {
  /** May change at any time; connections beyond a lower limit stay until they end. */
  limits: TableLimits;
  /** Least recently used first. */
  readonly #connections = new Set<T>();
  readonly #byAddress = new Map<string, number>();

  constructor(limits: TableLimits) {
    this.limits = limits;
  }

  get size(): number {
    return this.#connections.size;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#connections[Symbol.iterator]();
  }

  /** Returns false if there is no room: the connection is surplus, and only gets a refusal. */
  add(connection: T): boolean {
    const hasRoom = this.#makeRoomFor(connection);
    this.#connections.add(connection);
    this.#count(connection, 1);
    return hasRoom;
  }

  /** Counts `connection` instead of `old`: both stand for one client. */
  replace(old: T, connection: T): void {
    this.remove(old);
    this.#connections.add(connection);
    this.#count(connection, 1);
  }

  /** The connection was used, and idles from now on. */
  rested(connection: T): void {
    if (this.#connections.delete(connection)) this.#connections.add(connection);
  }

  remove(connection: T): void {
    if (this.#connections.delete(connection)) this.#count(connection, -1);
  }

  #makeRoomFor({ remoteAddress }: T): boolean {
    const { connectionsMax, connectionsPerAddressMax } = this.limits;
    const network = networkOf(remoteAddress);
    const isOf = (one: T) => networkOf(one.remoteAddress) === network;
    const own = network === null ? 0 : (this.#byAddress.get(network) ?? 0);
    if (own >= connectionsPerAddressMax && !this.#closeIdle(isOf)) return false;
    return this.#connections.size < connectionsMax || this.#closeIdle(() => true);
  }

  #closeIdle(isMeant: (connection: T) => boolean): boolean {
    let found: T | null = null;
    let rank = Number.POSITIVE_INFINITY;
    for (const connection of this.#connections) {
      const { idleRank } = connection;
      if (idleRank === null || idleRank >= rank || !isMeant(connection)) continue;
      found = connection;
      rank = idleRank;
      if (rank === 0) break;
    }
    if (found === null) return false;
    this.remove(found);
    found.close();
    return true;
  }

  #count({ remoteAddress }: T, change: number): void {
    const network = networkOf(remoteAddress);
    if (network === null) return;
    const count = (this.#byAddress.get(network) ?? 0) + change;
    if (count === 0) this.#byAddress.delete(network);
    else this.#byAddress.set(network, count);
  }
}

const LOOPBACK = /^(?:127\.|::1$|$)/;
/** The parts of an IPv6 address that name a /64 network, the smallest that a site gets. */
const NETWORK_PARTS = 4;
const PARTS = 8;

/** What counts as one address: for IPv6 the network. Null for this machine. */
export function networkOf(address: string): string | null {
  if (LOOPBACK.test(address)) return null;
  if (!isIPv6(address)) return address;
  const [head = "", tail = ""] = address.split("::");
  const first = head.split(":").filter((part) => part !== "");
  const last = tail.split(":").filter((part) => part !== "");
  const zeros = Array.from({ length: PARTS - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].slice(0, NETWORK_PARTS).join(":");
}
