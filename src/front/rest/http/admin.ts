import { createHash, timingSafeEqual } from "node:crypto";
import type { Bytes } from "../../../base/bytes.ts";
import { MIB } from "../../../base/limits.ts";
import type { RestResponse } from "./exchange.ts";
import type { IncomingRequest } from "./incoming-request.ts";
import { readWholeBody } from "./whole-body.ts";

/** What requests to the server itself can do, for those who know its token. */
export interface Admin {
  readonly token: string;
  /** By the name in the path: `POST /-/reload`. */
  readonly doors: Readonly<Record<string, AdminDoor>>;
  /** Answers what the console's API answers its operator: `GET /-/api/holders`. */
  readonly answer: (question: AdminQuestion) => Promise<AdminAnswer>;
}

export interface AdminQuestion {
  readonly method: string;
  /** `/api/holders` */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly body: Bytes;
  readonly remoteAddress: string;
}

/** Answers the body of a request. */
export type AdminDoor = (asked: Bytes) => Promise<AdminAnswer>;

export interface AdminAnswer {
  readonly status: number;
  /** A text for people and scripts, or bytes. */
  readonly body: string | Bytes;
  /** The content type of a text that is not for people. */
  readonly type?: string;
}

/** No account can have this name, so that no path of a service is taken away. */
const PREFIX = "/-/";
const API = "api";
/** The longest request of a command. */
export const ADMIN_BODY_BYTES_MAX = MIB;

export function isAdminRequest({ path }: Pick<IncomingRequest, "path">, { doors }: Admin): boolean {
  if (!path.startsWith(PREFIX)) return false;
  return path.startsWith(`${PREFIX}${API}/`) || Object.hasOwn(doors, path.slice(PREFIX.length));
}

/** Answers a request; no client of the services sends these. */
export async function administer(request: IncomingRequest, admin: Admin): Promise<RestResponse> {
  const { method, headers, facts, path } = request;
  const asked = path.slice(PREFIX.length);
  const door = admin.doors[asked];
  // Metrics have a label for each name: it must not be any text of a client.
  facts.operation = door === undefined ? API : asked;
  const [scheme = "", token = ""] = (headers.get("authorization") ?? "").split(" ");
  if (scheme.toLowerCase() !== "bearer" || !isSame(token, admin.token)) {
    const line =
      "Send the token in control.json of the data folder: Authorization: Bearer <token>.";
    return answer(401, `${line}\n`, ["WWW-Authenticate", "Bearer"]);
  }
  if (door === undefined) return answerQuestion(request, admin);
  if (method !== "POST") return answer(405, `${path} takes POST.\n`, ["Allow", "POST"]);
  const { status, body } = await door(await readWholeBody(request, ADMIN_BODY_BYTES_MAX));
  return answer(status, typeof body === "string" ? `${body}\n` : body);
}

async function answerQuestion(request: IncomingRequest, admin: Admin): Promise<RestResponse> {
  const { method, path, target, remoteAddress } = request;
  const query = new URL(target, "http://server").searchParams;
  const body = await readWholeBody(request, ADMIN_BODY_BYTES_MAX);
  const question = { method, path: path.slice(PREFIX.length - 1), query, body, remoteAddress };
  const { status, body: told, type } = await admin.answer(question);
  return answer(status, told, [], type);
}

function answer(
  status: number,
  body: string | Bytes,
  more: readonly string[] = [],
  type = typeof body === "string" ? "text/plain; charset=utf-8" : "application/octet-stream",
): RestResponse {
  const headers = ["Content-Type", type, "Cache-Control", "no-store"];
  return { status, headers: [...headers, ...more], body };
}

/** Takes the same time wherever the texts differ. */
function isSame(one: string, other: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(one), digest(other));
}
