import { createHash, timingSafeEqual } from "node:crypto";
import type { RestResponse } from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";

/** What requests to the server itself can do, for those who know its token. */
export interface Admin {
  readonly token: string;
  /** Reads the settings again. Resolves also if they are refused. */
  reload(): Promise<ReloadAnswer>;
}

export interface ReloadAnswer {
  readonly isReloaded: boolean;
  readonly line: string;
}

/** No account can have this name, so that no path of a service is taken away. */
const PATH = "/-/reload";
/** The operation in outcomes. */
const RELOAD = "reload";

export function isAdminRequest({ path }: IncomingRequest): boolean {
  return path === PATH;
}

/** Answers in plain text, for people and scripts; no client of the services sends this. */
export async function administer(
  { method, headers, facts }: IncomingRequest,
  admin: Admin,
): Promise<RestResponse> {
  facts.operation = RELOAD;
  const [scheme = "", token = ""] = (headers.get("authorization") ?? "").split(" ");
  if (scheme.toLowerCase() !== "bearer" || !isSame(token, admin.token)) {
    const line =
      "Send the token in control.json of the data folder: Authorization: Bearer <token>.";
    return answer(401, line, ["WWW-Authenticate", "Bearer"]);
  }
  if (method !== "POST") return answer(405, `${PATH} takes POST.`, ["Allow", "POST"]);
  const { isReloaded, line } = await admin.reload();
  return answer(isReloaded ? 200 : 422, line);
}

function answer(status: number, line: string, more: readonly string[] = []): RestResponse {
  const headers = ["Content-Type", "text/plain; charset=utf-8", "Cache-Control", "no-store"];
  return { status, headers: [...headers, ...more], body: `${line}\n` };
}

/** Takes the same time wherever the texts differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
