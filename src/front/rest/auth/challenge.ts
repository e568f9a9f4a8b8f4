import { type OAuth, STORAGE } from "./bearer.ts";

const AUTHORITY = "https://login.microsoftonline.com";
/** A tenant id that no directory has. Clients ignore a challenge without a tenant id. */
const ANY_TENANT = "00000000-0000-0000-0000-000000000000";
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/**
 * Formats the `WWW-Authenticate` header of a 401: where to get a token, and for which resource.
 * SDKs read the tenant from the first path segment, and the scope from `resource_id`.
 * `authorization` is the header of the refused request.
 */
export function challenge(oauth: OAuth | null, authorization: string | undefined): string {
  const authority =
    oauth?.mode === "issuer"
      ? authorityOf(oauth.issuer)
      : `${AUTHORITY}/${tenantIn(authorization) ?? ANY_TENANT}`;
  const uri = `Bearer authorization_uri=${authority}/oauth2/authorize`;
  const resource = (oauth?.mode === "issuer" && oauth.audience) || STORAGE;
  // SDKs parse it as a URL and fail on an application id.
  return URL.canParse(resource) && /^https?:/i.test(resource)
    ? `${uri} resource_id=${resource}`
    : uri;
}

function authorityOf(issuer: string): string {
  return issuer
    .replace(/^https:\/\/sts\.windows\.net\//, `${AUTHORITY}/`)
    .replace(/\/(?:v2\.0)?$/, "");
}

/** Returns the tenant of the refused token: a client should ask the same tenant again. */
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
