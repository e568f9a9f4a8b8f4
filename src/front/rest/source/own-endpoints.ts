import { isIP } from "node:net";
import { type Accounts, SECONDARY_SUFFIX } from "../auth/account.ts";
import { cloudServiceOf } from "../auth/address.ts";
import type { ServiceName } from "../auth/resource.ts";

/** Where a request came in, which tells by what names this server is known. */
export interface Reached {
  readonly service: ServiceName;
  readonly host: string | undefined;
}

const SERVICE_LABELS: readonly string[] = ["blob", "dfs", "file", "queue", "table"];

/**
 * Knows which URLs name this server. What it takes for its own is resolved here and authorized like
 * any request, so a name too many opens nothing.
 */
export class OwnEndpoints {
  readonly #accounts: Accounts;
  readonly #services = new Map<number, ServiceName>();
  readonly #hosts = new Set<string>();

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  /** `origin` is `http://host:port`. */
  add(service: ServiceName, origin: string): void {
    const { protocol, host } = new URL(origin);
    const { name, port } = split(host, protocol === "https:");
    this.#services.set(port, service);
    this.#hosts.add(name);
  }

  /** The service that a URL names, if it is one of ours. */
  serviceAt(authority: string, secure: boolean, reached: Reached): ServiceName | null {
    const { name, port } = split(authority, secure);
    const near = split(reached.host ?? "", secure);
    if (!this.#isOurs(name, near.name)) return null;
    const isReached = port === near.port || this.#isDomain(name, port, secure);
    const known = this.#services.get(port) ?? (isReached ? reached.service : null);
    return known === null ? null : (this.#serviceIn(name) ?? known);
  }

  /**
   * The service that a URL names by what an account of ours would be called in the cloud. Programs
   * that know no more than the account's name put together such URLs.
   */
  cloudServiceAt(authority: string, secure: boolean): ServiceName | null {
    const { name, port } = split(authority, secure);
    const isOurs = port === usualPort(secure) && this.#roofOf(name) !== null;
    return isOurs ? cloudServiceOf(name) : null;
  }

  /** A domain of an account, behind a proxy that listens on the usual port. */
  #isDomain(name: string, port: number, secure: boolean): boolean {
    return port === usualPort(secure) && this.#accounts.byDomain.has(name);
  }

  #isOurs(name: string, near: string): boolean {
    if (name === near || isLocal(name) || this.#hosts.has(name)) return true;
    if (this.#accounts.byDomain.has(name)) return true;
    // Another account, or another service of one, under the same roof.
    const roof = this.#roofOf(name);
    return roof !== null && (roof === this.#roofOf(near) || roof === near);
  }

  /** `localhost` of `account.blob.localhost`; null if no account of ours stands in front. */
  #roofOf(name: string): string | null {
    const [first = "", ...labels] = name.split(".");
    const account = first.endsWith(SECONDARY_SUFFIX)
      ? first.slice(0, -SECONDARY_SUFFIX.length)
      : first;
    if (!this.#accounts.byName.has(account)) return null;
    return labels.slice(SERVICE_LABELS.includes(labels[0] ?? "") ? 1 : 0).join(".");
  }

  /** Some hosts say which service they are. */
  #serviceIn(name: string): ServiceName | null {
    const label = name.split(".")[1] ?? "";
    const isNamed = this.#roofOf(name) !== null && SERVICE_LABELS.includes(label);
    return isNamed ? (label as ServiceName) : null;
  }
}

/** What every machine calls itself. */
export function isLocal(name: string): boolean {
  if (name === "localhost" || name.endsWith(".localhost") || name === "[::1]") return true;
  return isIP(name) === 4 && name.startsWith("127.");
}

function split(authority: string, secure: boolean): { name: string; port: number } {
  const found = /^(.*?)(?::(\d{1,5}))?$/.exec(authority.toLowerCase());
  const [, name = "", port] = found ?? [];
  return {
    name: name.endsWith(".") ? name.slice(0, -1) : name,
    port: port === undefined ? usualPort(secure) : Number(port),
  };
}

function usualPort(secure: boolean): number {
  return secure ? 443 : 80;
}
