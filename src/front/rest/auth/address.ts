import { Fault } from "../../../base/fault.ts";
import type { RestRequest } from "../http/exchange.ts";
import type { Account, Accounts } from "./account.ts";
import type { ServiceName } from "./resource.ts";
import { SECONDARY_SUFFIX } from "./resource.ts";

/** The account that a URL names, and the rest of its path. */
export interface Address {
  /** Always the primary name, without `-secondary`. */
  readonly accountName: string;
  /** Null if the account is unknown. */
  readonly account: Account | null;
  readonly isSecondary: boolean;
  /** Whether the host (`account.blob.localhost/c`) names the account, not the path. */
  readonly hostStyle: boolean;
  /** The path after the account, still percent-encoded; at least `/`. */
  readonly resourcePath: string;
}

/** An address whose account exists. */
export type KnownAddress = Address & { readonly account: Account };

/**
 * Finds the account in a URL. A host names an account if it is a configured domain, or if its first
 * label is a configured account. With any other host (an IP address, `localhost`, a service in a
 * cluster), the first path segment names the account.
 */
export function locate(host: string | undefined, path: string, accounts: Accounts): Address {
  if (!path.startsWith("/")) throw new Fault("InvalidUri");
  return byHost(host, path, accounts) ?? byPath(path, accounts);
}

/**
 * Reads a URL without an account name as a URL of this account. Only for requests whose signature,
 * or whose batch, names the account, and never if the URL names one itself.
 */
export function locateIn(account: Account, path: string): KnownAddress {
  const accountName = account.name;
  return { accountName, account, isSecondary: false, hostStyle: false, resourcePath: path };
}

/** Returns the account's URL as the client reached it, ending with a slash. */
export function endpointOf(request: RestRequest, address: Address): string {
  const root = `${request.secure ? "https" : "http"}://${request.headers.get("host") ?? ""}/`;
  if (address.hostStyle) return root;
  const alias = address.isSecondary ? SECONDARY_SUFFIX : "";
  return `${root}${address.accountName}${alias}/`;
}

/** Host names of the cloud, which begin with an account. */
const CLOUD_NAME = /^[^.]+\.(blob|dfs|file|queue|table)\.core\.windows\.net$/;

/** Returns the service that `account.blob.core.windows.net` names; null for all other hosts. */
export function cloudServiceOf(name: string): ServiceName | null {
  return (CLOUD_NAME.exec(name)?.[1] as ServiceName | undefined) ?? null;
}

function byHost(host: string | undefined, path: string, accounts: Accounts): Address | null {
  if (host === undefined || host.startsWith("[")) return null;
  const name = hostName(host);
  if (accounts.pathStyleOnly && cloudServiceOf(name) === null) return null;
  const owner = accounts.byDomain.get(name);
  if (owner !== undefined) return hostStyle(owner, false, path);
  const dot = name.indexOf(".");
  if (dot < 0) return null;
  const { accountName, isSecondary } = primaryName(name.slice(0, dot));
  const account = accounts.byName.get(accountName);
  return account === undefined ? null : hostStyle(account, isSecondary, path);
}

function hostStyle(account: Account, isSecondary: boolean, path: string): Address {
  return {
    accountName: account.name,
    account,
    isSecondary,
    hostStyle: true,
    resourcePath: path,
  };
}

function byPath(path: string, accounts: Accounts): Address {
  const slash = path.indexOf("/", 1);
  const first = slash < 0 ? path.slice(1) : path.slice(1, slash);
  if (first === "") throw new Fault("InvalidUri");
  const { accountName, isSecondary } = primaryName(first);
  return {
    accountName,
    account: accounts.byName.get(accountName) ?? null,
    isSecondary,
    hostStyle: false,
    resourcePath: slash < 0 ? "/" : path.slice(slash),
  };
}

function primaryName(name: string): { accountName: string; isSecondary: boolean } {
  if (!name.endsWith(SECONDARY_SUFFIX)) return { accountName: name, isSecondary: false };
  return { accountName: name.slice(0, -SECONDARY_SUFFIX.length), isSecondary: true };
}

/** Removes the port and the dot that may end a full name. */
function hostName(host: string): string {
  const colon = host.indexOf(":");
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase();
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
