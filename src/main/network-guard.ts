import { BlockList, isIP } from "node:net";
import type { AccountSettings } from "../front/rest/auth/account.ts";
import { usesWellKnownKey, weakKeys } from "./accounts.ts";
import { UsageError } from "./start-error.ts";

const loopback = new BlockList();
loopback.addSubnet("127.0.0.0", 8, "ipv4");
loopback.addAddress("::1", "ipv6");

/** Whether only this machine can reach an address. Names other than localhost may change. */
export function isLoopback(host: string): boolean {
  const family = isIP(host);
  if (family === 0) return host === "localhost";
  return loopback.check(host, family === 4 ? "ipv4" : "ipv6");
}

const TRUST = "add --trustNetwork (for a container: LAZULI_TRUST_NETWORK=true)";

/** Throws if a server with a lab would listen beyond this machine: anybody could stop its clock. */
export function requireLabAtHome(hosts: readonly string[]): void {
  const host = hosts.find((one) => !isLoopback(one));
  if (host === undefined) return;
  throw new UsageError(
    `Refusing to listen on ${host} with --lab, which lets anybody change the clock and the data: ` +
      "listen on 127.0.0.1, or leave out --lab.",
  );
}

export interface Exposure {
  readonly hosts: readonly string[];
  readonly accounts: readonly AccountSettings[];
  readonly oauthBasic: boolean;
  readonly trustNetwork: boolean;
}

/**
 * Throws if the server would listen beyond this machine with the well-known key, a key that can be
 * guessed, or unchecked tokens, unless the user trusts the network: any client could then take over
 * all data.
 */
export function requireNoExposure({ hosts, accounts, oauthBasic, trustNetwork }: Exposure): void {
  const host = hosts.find((one) => !isLoopback(one));
  if (host === undefined || trustNetwork) return;
  if (usesWellKnownKey(accounts)) {
    throw new UsageError(
      `Refusing to listen on ${host} while an account has the well-known development key. ` +
        `Set accounts of your own in AZURITE_ACCOUNTS or --config, or ${TRUST}.`,
    );
  }
  const [weak] = weakKeys(accounts);
  if (weak !== undefined) {
    throw new UsageError(
      `Refusing to listen on ${host} while ${weak}. ` +
        `Make one with: openssl rand -base64 64, or ${TRUST}.`,
    );
  }
  if (oauthBasic) {
    throw new UsageError(
      `Refusing to listen on ${host} with --oauth basic, which accepts any token. ` +
        `Give the issuer and its keys in --config, or ${TRUST}.`,
    );
  }
}
