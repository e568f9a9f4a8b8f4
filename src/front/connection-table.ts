import { isIPv6 } from "node:net";

/** A connection as its listener counts it. */
export interface Counted {
  readonly remoteAddress: string;
  /** Among connections that idle, those of a lower rank are closed first. Null: something is under way. */
  readonly idleRank: number | null;
  close(): void;
}

export interface TableLimits {
  readonly connectionsMax: number;
  /** Of one address. Those of this machine are not counted. */
  readonly connectionsPerAddressMax: number;
}

/**
 * The connections of a listener. Where a new one finds no room, the one that has idled for longest is closed for
 * it: so clients that keep connections without using them lock nobody out.
 */
export class ConnectionTable<T extends Counted> {
  readonly #limits: TableLimits;
  /** In order of use, the most recent last. */
  readonly #connections = new Set<T>();
  readonly #byAddress = new Map<string, number>();

  constructor(limits: TableLimits) {
    this.#limits = limits;
  }

  [Symbol.iterator](): Iterator<T> {
    return this.#connections[Symbol.iterator]();
  }

  /** False if there is no room: the connection is surplus, and only to be told so. */
  add(connection: T): boolean {
    const hasRoom = this.#makeRoomFor(connection);
    this.#connections.add(connection);
    this.#count(connection, 1);
    return hasRoom;
  }

  /** The same connection goes on as another one. */
  replace(old: T, connection: T): void {
    this.remove(old);
    this.#connections.add(connection);
    this.#count(connection, 1);
  }

  /** It has done something, and idles from now on. */
  rested(connection: T): void {
    if (this.#connections.delete(connection)) this.#connections.add(connection);
  }

  remove(connection: T): void {
    if (this.#connections.delete(connection)) this.#count(connection, -1);
  }

  #makeRoomFor({ remoteAddress }: T): boolean {
    const { connectionsMax, connectionsPerAddressMax } = this.#limits;
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
/** A site has at least so many parts of an IPv6 address, and all that are behind them. */
const NETWORK_PARTS = 4;
const PARTS = 8;

/** What counts as one address: for IPv6 the network. Null for this machine, which is not counted. */
export function networkOf(address: string): string | null {
  if (LOOPBACK.test(address)) return null;
  if (!isIPv6(address)) return address;
  const [head = "", tail = ""] = address.split("::");
  const first = head.split(":").filter((part) => part !== "");
  const last = tail.split(":").filter((part) => part !== "");
  const zeros = Array.from({ length: PARTS - first.length - last.length }, () => "0");
  return [...first, ...zeros, ...last].slice(0, NETWORK_PARTS).join(":");
}
