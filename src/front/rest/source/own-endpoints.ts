import { isIP } from "node:net";
import type { Accounts } from "../auth/account.ts";
import { cloudServiceOf } from "../auth/address.ts";
import type { ServiceName } from "../auth/resource.ts";
import { SECONDARY_SUFFIX } from "../auth/resource.ts";

/** The service, host and port at which a request arrived: one name of this server. */
export interface Reached {
  readonly service: ServiceName;
  readonly host: string | undefined;
}

const SERVICE_LABELS: readonly string[] = ["blob", "dfs", "file", "queue", "table"];

/**
 * Knows which URLs name this server. A URL that is taken for local by mistake grants nothing, as it
 * is authorized like any request.
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

  /** Returns the service that a URL names; null if it is not on this server. */
  serviceAt(authority: string, secure: boolean, reached: Reached): ServiceName | null {
    const { name, port } = split(authority, secure);
    const near = split(reached.host ?? "", secure);
    if (!this.#isOurs(name, near.name)) return null;
    const isReached = port === near.port || this.#isDomain(name, port, secure);
    const known = this.#services.get(port) ?? (isReached ? reached.service : null);
    return known === null ? null : (this.#serviceIn(name) ?? known);
  }

  /**
   * Returns the service that a URL names by the cloud host name of an account of this server.
   * Programs that know only the account's name build such URLs.
   */
  cloudServiceAt(authority: string, secure: boolean): ServiceName | null {
    const { name, port } = split(authority, secure);
    const isOurs = port === usualPort(secure) && this.#parentOf(name) !== null;
    return isOurs ? cloudServiceOf(name) : null;
  }

  /** Whether a name is an account's domain, behind a proxy on the default port. */
  #isDomain(name: string, port: number, secure: boolean): boolean {
    return port === usualPort(secure) && this.#accounts.byDomain.has(name);
  }

  #isOurs(name: string, near: string): boolean {
    if (name === near || isLocal(name) || this.#hosts.has(name)) return true;
    if (this.#accounts.byDomain.has(name)) return true;
    // Another account or service under the same parent domain.
    const parent = this.#parentOf(name);
    return parent !== null && (parent === this.#parentOf(near) || parent === near);
  }

  /**
   * Returns `localhost` for `account.blob.localhost`; null unless the name begins with an account.
   */
  #parentOf(name: string): string | null {
    const [first = "", ...labels] = name.split(".");
    const account = first.endsWith(SECONDARY_SUFFIX)
      ? first.slice(0, -SECONDARY_SUFFIX.length)
      : first;
    if (!this.#accounts.byName.has(account)) return null;
    return labels.slice(SERVICE_LABELS.includes(labels[0] ?? "") ? 1 : 0).join(".");
  }

  /** Returns the service that a host names, if any. */
  #serviceIn(name: string): ServiceName | null {
    const label = name.split(".")[1] ?? "";
    const isNamed = this.#parentOf(name) !== null && SERVICE_LABELS.includes(label);
    return isNamed ? (label as ServiceName) : null;
  }
}

/** Whether a name or address is this machine's loopback. */
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
