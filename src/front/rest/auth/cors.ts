import { Fault } from "../../../base/fault.ts";
import type { CorsRule } from "../../../rules/cors-rules.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { requireHeader } from "../request-headers.ts";

const ANY = "*";

/**
 * Answers a preflight (OPTIONS): may a page send this request? The first rule that matches origin
 * and method decides. Returns response headers, as alternating names and values.
 */
export function preflight(rules: readonly CorsRule[], headers: RequestHeaders): string[] {
  const origin = requireHeader(headers, "origin");
  const method = requireHeader(headers, "access-control-request-method");
  const wanted = headers.get("access-control-request-headers") ?? "";
  const rule = rules.find((one) => allows(one, origin, method));
  if (rule === undefined || !namesIn(wanted).every((name) => covers(rule.allowedHeaders, name))) {
    throw new Fault("CorsPreflightFailure", {
      MessageDetails:
        rules.length === 0
          ? "The service has no CORS rules: set some in its properties."
          : "No CORS rule of the service matches this request.",
    });
  }
  const answer = [...originHeaders(rule, origin), "Access-Control-Allow-Methods", method];
  if (wanted !== "") answer.push("Access-Control-Allow-Headers", wanted);
  answer.push("Access-Control-Max-Age", String(rule.maxAgeSeconds));
  return answer;
}

/**
 * Returns the CORS headers for the response to any other request; `names` are its header names. The
 * browser, not the server, hides the response from a page that no rule allows.
 */
export function corsHeaders(
  rules: readonly CorsRule[],
  method: string,
  origin: string | undefined,
  names: readonly string[],
): string[] {
  if (rules.length === 0) return [];
  const rule = rules.find((one) => allows(one, origin, method));
  const added = rule === undefined ? [] : exposing(rule, origin ?? ANY, names);
  // A cache must not serve one page a response that depends on the origin of another.
  const varies = rule === undefined || !rule.allowedOrigins.includes(ANY);
  if (varies && (method === "GET" || method === "HEAD")) added.push("Vary", "Origin");
  return added;
}

function exposing(rule: CorsRule, origin: string, names: readonly string[]): string[] {
  const headers = originHeaders(rule, origin);
  const exposed = exposedNames(rule.exposedHeaders, names);
  if (exposed.length > 0) headers.push("Access-Control-Expose-Headers", exposed.join(","));
  return headers;
}

function originHeaders(rule: CorsRule, origin: string): string[] {
  if (rule.allowedOrigins.includes(ANY)) return ["Access-Control-Allow-Origin", ANY];
  return ["Access-Control-Allow-Origin", origin, "Access-Control-Allow-Credentials", "true"];
}

/** Expands patterns to names: browsers support no prefixes, and no `*` with credentials. */
function exposedNames(patterns: readonly string[], names: readonly string[]): string[] {
  const exposed = patterns.filter((pattern) => !pattern.endsWith(ANY));
  const prefixes = patterns.filter((pattern) => pattern.endsWith(ANY));
  for (const name of names) {
    if (covers(prefixes, name) && !covers(exposed, name)) exposed.push(name);
  }
  return exposed;
}

/** Without an origin, only a rule for any origin applies. */
function allows(rule: CorsRule, origin: string | undefined, method: string): boolean {
  if (!rule.allowedMethods.includes(method)) return false;
  return rule.allowedOrigins.some(
    (allowed) => allowed === ANY || (origin !== undefined && matchesOrigin(allowed, origin)),
  );
}

/** Compares case-sensitively; `https://*.contoso.com` matches every host below `contoso.com`. */
function matchesOrigin(allowed: string, origin: string): boolean {
  if (allowed === origin) return true;
  const star = allowed.indexOf("://*.");
  if (star < 0) return false;
  const scheme = allowed.slice(0, star + "://".length);
  const domain = allowed.slice(scheme.length + 1);
  if (!origin.startsWith(scheme) || !origin.endsWith(domain)) return false;
  const below = origin.slice(scheme.length, -domain.length);
  return /^[A-Za-z0-9-]+(?:\.[A-Za-z0-9-]+)*$/.test(below);
}

/** Header names are case-insensitive; a pattern may end in `*`. */
function covers(patterns: readonly string[], name: string): boolean {
  const lower = name.toLowerCase();
  return patterns.some((pattern) => {
    const known = pattern.toLowerCase();
    return known.endsWith(ANY) ? lower.startsWith(known.slice(0, -1)) : lower === known;
  });
}

function namesIn(list: string): string[] {
  return list
    .split(",")
    .map((name) => name.trim())
    .filter((name) => name !== "");
}
