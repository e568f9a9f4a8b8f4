import { isIPv6 } from "node:net";
import { SERVICES, type ServiceName } from "./flags.ts";

export type UrlsByService = Readonly<Partial<Record<ServiceName, string>>>;

/** Addresses at which a server listens on all of its machine's, with one that reaches it. */
const EVERY_ADDRESS: Readonly<Record<string, string>> = { "0.0.0.0": "127.0.0.1", "::": "::1" };

/** The origin at which a client on this machine reaches a server that listens on `asked`. */
export function originAt(scheme: string, asked: string, port: number): string {
  const host = EVERY_ADDRESS[asked] ?? asked;
  return `${scheme}://${isIPv6(host) ? `[${host}]` : host}:${port}`;
}

/** URLs for clients on this machine: with the names that were asked for, and the actual ports. */
export function reachableUrls(
  origins: ReadonlyMap<ServiceName, string>,
  listen: Readonly<Record<ServiceName, { readonly host: string }>>,
): UrlsByService {
  const urls = [...origins].map(([service, origin]) => {
    const [scheme, port] = [origin.split(":").at(0), origin.split(":").at(-1)];
    return [service, originAt(`${scheme}`, listen[service].host, Number(port))];
  });
  return Object.fromEntries(urls);
}

/** The URLs of an account: of the REST services, as an SMB path begins with a share. */
export function accountUrls(account: string, urls: UrlsByService): UrlsByService {
  const own = Object.entries(urls)
    .filter(([service]) => service !== "smb")
    .map(([service, url]) => [service, `${url}/${account}`]);
  return Object.fromEntries(own);
}

function endpointName(service: ServiceName): string {
  return service === "dfs" ? "DfsEndpoint" : `${SERVICES[service].title}Endpoint`;
}

/** The connection string of an account with these URLs. */
export function connectionString(account: string, key: string, urls: UrlsByService): string {
  const [first = "http:"] = Object.values(urls);
  const scheme = first.split(":").at(0);
  const endpoints = Object.entries(urls).map(
    ([service, url]) => `${endpointName(service as ServiceName)}=${url};`,
  );
  return `DefaultEndpointsProtocol=${scheme};AccountName=${account};AccountKey=${key};${endpoints.join("")}`;
}
