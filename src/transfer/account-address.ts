import { DEVELOPMENT_ACCOUNT_NAME, WELL_KNOWN_KEY } from "../base/development-account.ts";
import { SERVICE_KINDS, type ServiceKind } from "./item.ts";
import { TransferError } from "./transfer-error.ts";

/** How to reach an account. */
export interface AccountAddress {
  readonly name: string;
  /** The URL of the account at each service, without a slash at the end. */
  readonly urls: Readonly<Partial<Record<ServiceKind, string>>>;
  readonly credentials: { readonly key: string } | { readonly sas: string };
}

const DEVELOPMENT_PORTS = { blob: 10_000, queue: 10_001, table: 10_002, file: 10_003 } as const;
const CLOUD_HOST = /^([a-z0-9-]+)\.(blob|queue|table|file|dfs)\.(.+)$/;

/** Whether a text names an account, and not a path. */
export function isAccountAddress(text: string): boolean {
  return /^https?:\/\//i.test(text) || /^\w+=[^;]*(;|$)/.test(text);
}

/** Reads a connection string, or a URL with a SAS. Throws a `TransferError` without the secret. */
export function readAccountAddress(text: string): AccountAddress {
  return /^https?:\/\//i.test(text) ? readSasUrl(text) : readConnectionString(text);
}

function readSasUrl(text: string): AccountAddress {
  let url: URL;
  try {
    url = new URL(text);
  } catch {
    throw new TransferError("The address of the account is not a URL.");
  }
  const sas = url.search.slice(1);
  if (!/(^|&)sig=/.test(sas)) {
    throw new TransferError(
      "The URL of the account has no SAS. Give the URL with its query, or a connection string.",
    );
  }
  const cloud = CLOUD_HOST.exec(url.hostname);
  const path = url.pathname.split("/").filter((part) => part !== "");
  if (path.length > (cloud === null ? 1 : 0)) {
    throw new TransferError(
      "The URL names more than an account. Give the URL of the account, and choose with --only.",
    );
  }
  if (cloud === null) return pathStyle(url, path[0], sas);
  const [, name = "", , rest = ""] = cloud;
  const urls = SERVICE_KINDS.map((kind) => [kind, `${url.protocol}//${name}.${kind}.${rest}`]);
  return { name, urls: Object.fromEntries(urls), credentials: { sas } };
}

/** An emulator: `http://127.0.0.1:10000/account`. The port says which service it is. */
function pathStyle(url: URL, name: string | undefined, sas: string): AccountAddress {
  if (name === undefined) throw new TransferError("The URL does not name an account.");
  const kind = SERVICE_KINDS.find((one) => `${DEVELOPMENT_PORTS[one]}` === url.port) ?? "blob";
  return { name, urls: { [kind]: `${url.origin}/${name}` }, credentials: { sas } };
}

function readConnectionString(text: string): AccountAddress {
  const fields = fieldsOf(text);
  if (fields.get("usedevelopmentstorage") === "true") return developmentAccount();
  const sas = fields.get("sharedaccesssignature")?.replace(/^\?/, "");
  const key = fields.get("accountkey");
  const name = fields.get("accountname") ?? nameInEndpoint(fields);
  if (name === undefined) throw incomplete("AccountName");
  if (key === undefined && sas === undefined) throw incomplete("AccountKey");
  const urls = SERVICE_KINDS.flatMap((kind) => {
    const url = fields.get(`${kind}endpoint`) ?? cloudUrl(fields, name, kind);
    return url === null ? [] : [[kind, url.replace(/\/+$/, "")]];
  });
  if (urls.length === 0) throw incomplete("BlobEndpoint");
  const credentials = key === undefined ? { sas: sas as string } : { key };
  return { name, urls: Object.fromEntries(urls), credentials };
}

function fieldsOf(text: string): Map<string, string> {
  const fields = new Map<string, string>();
  for (const part of text.trim().split(";")) {
    if (part.trim() === "") continue;
    const at = part.indexOf("=");
    if (at <= 0) {
      throw new TransferError(
        "The connection string is not of the form Name=Value;Name=Value. Quote it for the shell.",
      );
    }
    fields.set(part.slice(0, at).trim().toLowerCase(), part.slice(at + 1).trim());
  }
  return fields;
}

function incomplete(field: string): TransferError {
  return new TransferError(`The connection string has no ${field}. Copy all of it.`);
}

/** With endpoints but no suffix, only the services with an endpoint are there. */
function cloudUrl(
  fields: ReadonlyMap<string, string>,
  name: string,
  kind: ServiceKind,
): string | null {
  const hasEndpoints = SERVICE_KINDS.some((one) => fields.has(`${one}endpoint`));
  const suffix = fields.get("endpointsuffix") ?? (hasEndpoints ? null : "core.windows.net");
  const scheme = fields.get("defaultendpointsprotocol") ?? "https";
  return suffix === null ? null : `${scheme}://${name}.${kind}.${suffix}`;
}

function nameInEndpoint(fields: ReadonlyMap<string, string>): string | undefined {
  const [endpoint] = SERVICE_KINDS.flatMap((kind) => fields.get(`${kind}endpoint`) ?? []);
  if (endpoint === undefined || !URL.canParse(endpoint)) return undefined;
  const { hostname, pathname } = new URL(endpoint);
  return CLOUD_HOST.exec(hostname)?.[1] ?? pathname.split("/").find((part) => part !== "");
}

function developmentAccount(): AccountAddress {
  const urls = SERVICE_KINDS.map((kind) => [
    kind,
    `http://127.0.0.1:${DEVELOPMENT_PORTS[kind]}/${DEVELOPMENT_ACCOUNT_NAME}`,
  ]);
  return {
    name: DEVELOPMENT_ACCOUNT_NAME,
    urls: Object.fromEntries(urls),
    credentials: { key: WELL_KNOWN_KEY },
  };
}
