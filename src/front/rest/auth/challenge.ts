import { type OAuth, STORAGE } from "./bearer.ts";

const AUTHORITY = "https://login.microsoftonline.com";
/** No directory has this id. A client needs some id, or it does not answer the challenge. */
const ANY_TENANT = "00000000-0000-0000-0000-000000000000";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * What a 401 says in `WWW-Authenticate`: where to get a token, and for what. SDKs read the tenant
 * from the first part of the path, and the scope from `resource_id`. `authorization` is the header
 * of the request that was refused.
 */
export function challenge(oauth: OAuth | null, authorization: string | undefined): string {
  const authority =
    oauth?.mode === "issuer"
      ? authorityOf(oauth.issuer)
      : `${AUTHORITY}/${tenantIn(authorization) ?? ANY_TENANT}`;
  const uri = `Bearer authorization_uri=${authority}/oauth2/authorize`;
  const resource = (oauth?.mode === "issuer" && oauth.audience) || STORAGE;
  // SDKs parse it as a URL, and fail on an application id.
  return URL.canParse(resource) && /^https?:/i.test(resource)
    ? `${uri} resource_id=${resource}`
    : uri;
}

function authorityOf(issuer: string): string {
  return issuer
    .replace(/^https:\/\/sts\.windows\.net\//, `${AUTHORITY}/`)
    .replace(/\/(?:v2\.0)?$/, "");
}

/** Where tokens of any tenant are taken, a client should ask the tenant again that it asked first. */
function tenantIn(authorization: string | undefined): string | null {
  const payload = /^bearer [^.]*\.([^.]+)\./i.exec(authorization ?? "")?.[1];
  if (payload === undefined) return null;
  try {
    const { tid } = JSON.parse(Buffer.from(payload, "base64url").toString("utf8"));
    return typeof tid === "string" && UUID.test(tid) ? tid : null;
  } catch {
    return null;
  }
}
