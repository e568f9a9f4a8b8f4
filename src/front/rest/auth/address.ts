import { Fault } from "../../../base/fault.ts";
import type { RestRequest } from "../http/exchange.ts";
import { type Account, type Accounts, SECONDARY_SUFFIX } from "./account.ts";
import type { ServiceName } from "./resource.ts";

/** Which account a URL names, and what is left of its path. */
export interface Address {
  /** Always the primary name, without `-secondary`. */
  readonly accountName: string;
  /** Null if there is no such account. */
  readonly account: Account | null;
  readonly isSecondary: boolean;
  /** Whether the host names the account (`account.blob.localhost/c`), not the path. */
  readonly hostStyle: boolean;
  /** The path behind the account, still percent-encoded; at least `/`. */
  readonly resourcePath: string;
}

/** An address of an account that there is. */
export type KnownAddress = Address & { readonly account: Account };

/**
 * A host names an account if it is one of the configured domains, or if its first label is a
 * configured account. Every other host (an address, `localhost`, a service in a cluster) leaves
 * that to the first segment of the path.
 */
export function locate(host: string | undefined, path: string, accounts: Accounts): Address {
  if (!path.startsWith("/")) throw new Fault("InvalidUri");
  return byHost(host, path, accounts) ?? byPath(path, accounts);
}

/**
 * The same URL, read as one of this account that leaves its name out. Only for requests whose
 * signature names the account, or whose batch does, and never where the URL names one itself.
 */
export function locateIn(account: Account, path: string): KnownAddress {
  const accountName = account.name;
  return { accountName, account, isSecondary: false, hostStyle: false, resourcePath: path };
}

/** The URL of the account as the client reached it, with a slash at its end. */
export function endpointOf(request: RestRequest, address: Address): string {
  const root = `${request.secure ? "https" : "http"}://${request.headers.get("host") ?? ""}/`;
  if (address.hostStyle) return root;
  const alias = address.isSecondary ? SECONDARY_SUFFIX : "";
  return `${root}${address.accountName}${alias}/`;
}

/** What the service itself is called, with an account in front. */
const CLOUD_NAME = /^[^.]+\.(blob|dfs|file|queue|table)\.core\.windows\.net$/;

/** The service that `account.blob.core.windows.net` names; null for all other hosts. */
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

/** Without the port, and without the dot that may end a full name. */
function hostName(host: string): string {
  const colon = host.indexOf(":");
  const name = (colon < 0 ? host : host.slice(0, colon)).toLowerCase();
  return name.endsWith(".") ? name.slice(0, -1) : name;
}
