import { BlockList, isIP } from "node:net";
import { isLocal } from "./own-endpoints.ts";

/** The servers that may be copied from, as the configuration states them. */
export interface AllowedSources {
  /** `https://host`, with a port unless it is the default; a name may begin with `*.`. */
  readonly origins: readonly string[];
  /** Private networks (`10.1.0.0/16`) that may be copied from. */
  readonly networks: readonly string[];
}

const ORIGIN = /^(https?):\/\/(\*\.)?([^/?#@*]+)\/?$/i;
const NETWORK = /^([0-9a-f.:]+)\/(\d{1,3})$/i;

/** Addresses that are not public: this machine, private networks, metadata services. */
const PRIVATE_NETWORKS = [
  ...["0.0.0.0/8", "10.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16"],
  ...["172.16.0.0/12", "192.0.0.0/24", "192.168.0.0/16", "198.18.0.0/15", "224.0.0.0/3"],
  ...["::/127", "64:ff9b::/96", "64:ff9b:1::/48", "2002::/16", "fc00::/7", "fe80::/10", "ff00::/8"],
];

/** Decides by name, and then by address, which servers may be contacted. */
export class SourceGuard {
  readonly #origins: readonly { readonly suffix: string | null; readonly origin: string }[];
  readonly #networks: BlockList;
  /** Made with the first address, because it takes milliseconds, which most starts can save. */
  #private: BlockList | null = null;

  /** Throws an Error with a sentence for the operator if the settings are invalid. */
  constructor({ origins, networks }: AllowedSources) {
    this.#origins = origins.map(originOf);
    this.#networks = networksOf(networks);
  }

  permits({ protocol, hostname, port, origin }: URL): boolean {
    return this.#origins.some((one) => {
      if (one.suffix === null) return one.origin === origin;
      const rest = `${protocol}//${one.suffix.slice(1)}${port === "" ? "" : `:${port}`}`;
      return rest === one.origin && hostname.endsWith(one.suffix);
    });
  }

  /** Whether an origin is listed exactly, not by a wildcard. */
  lists({ origin }: URL): boolean {
    return this.#origins.some((one) => one.suffix === null && one.origin === origin);
  }

  /** Sends tokens over https or within this machine only: plain http could be read on the way. */
  permitsToken({ protocol, hostname }: URL): boolean {
    return protocol === "https:" || isLocal(hostname);
  }

  /** Whether a name may resolve to this address. Addresses written in an origin are not checked. */
  permitsAddress(address: string): boolean {
    this.#private ??= networksOf(PRIVATE_NETWORKS);
    return !contains(this.#private, address) || contains(this.#networks, address);
  }
}

function originOf(text: string): { suffix: string | null; origin: string } {
  const [, scheme, wildcard, host] = ORIGIN.exec(text) ?? [];
  const url = host === undefined ? null : urlOf(`${scheme}://${host}`);
  if (url === null || (wildcard !== undefined && isIP(url.hostname) !== 0)) {
    throw new Error(
      `"${text}" is no origin to copy from. Write it like https://files.example.org, ` +
        "http://10.1.2.3:8080 or https://*.blob.core.windows.net.",
    );
  }
  return { suffix: wildcard === undefined ? null : `.${url.hostname}`, origin: url.origin };
}

/** Parses a URL; null if it is invalid. */
export function urlOf(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function networksOf(networks: readonly string[]): BlockList {
  const list = new BlockList();
  for (const network of networks) {
    const [, address = "", bits] = NETWORK.exec(network) ?? [];
    const family = isIP(address);
    if (family === 0 || Number(bits) > (family === 4 ? 32 : 128)) {
      throw new Error(`"${network}" is no network to copy from. Write it like 10.1.0.0/16.`);
    }
    list.addSubnet(address, Number(bits), family === 4 ? "ipv4" : "ipv6");
  }
  return list;
}

function contains(list: BlockList, address: string): boolean {
  return list.check(address, isIP(address) === 6 ? "ipv6" : "ipv4");
}
