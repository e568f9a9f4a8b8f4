import { type IncomingMessage, request as plainRequest, type ServerResponse } from "node:http";
import { request as secureRequest } from "node:https";
import { pipeline } from "node:stream/promises";
import { sayText } from "../side-listener.ts";

/** Path of the services on the console's address: `/services/blob/account/container/blob`. */
export const SERVICES_PATH = "/services/";

/** The page sends it with every request; other sites cannot, and neither can a link. */
export const PAGE_HEADER = "x-lazuli-console";

/** Headers of one connection, or that would tell the service of the console's page. */
const OWN_HEADERS: readonly string[] = [
  ...["connection", "keep-alive", "host", "cookie", "origin", "referer", "upgrade", "expect"],
  ...["proxy-connection", "te", "trailer", PAGE_HEADER],
];

/** Nothing that a user has stored may run in the console's name. */
const HARMLESS = {
  "Content-Security-Policy": "sandbox; default-src 'none'",
  "X-Content-Type-Options": "nosniff",
};

/**
 * Passes a request on to a service as it is, signature included, and its answer back. So the page
 * needs one address only, and no CORS rules. The service judges the signature; the console adds no
 * right. A request without the page's header, such as a followed link, is saved and not shown.
 */
export async function forward(
  request: IncomingMessage,
  response: ServerResponse,
  urls: Readonly<Record<string, string>>,
): Promise<void> {
  const [, service = "", path = ""] = /^\/services\/([a-z]+)(\/.*)$/.exec(request.url ?? "") ?? [];
  const url = service === "smb" ? undefined : urls[service];
  if (url === undefined || path === "") {
    return sayText(response, 404, `${SERVICES_PATH}<service>/<account>/… leads to a service\n`);
  }
  const isPage = request.headers[PAGE_HEADER] !== undefined;
  if (!isPage && request.method !== "GET") {
    return sayText(response, 403, `only GET works without the header ${PAGE_HEADER}\n`);
  }
  const answer = await ask(url, path, request).catch((error: Error) => error);
  if (answer instanceof Error) {
    return sayText(response, 502, `the service does not answer: ${answer.message}\n`);
  }
  response.writeHead(answer.statusCode ?? 502, {
    ...passed(answer.headers),
    ...HARMLESS,
    ...(isPage ? {} : { "content-disposition": attachment(answer) }),
  });
  // Either side may go away, which ends both.
  await pipeline(answer, response).catch(() => response.destroy());
}

function ask(url: string, path: string, request: IncomingMessage): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    const options = { method: request.method ?? "GET", headers: passed(request.headers) };
    const isSecure = url.startsWith("https:");
    const asked = isSecure
      ? // It is this server's own address, and its certificate may be for another name.
        secureRequest(`${url}${path}`, { ...options, rejectUnauthorized: false })
      : plainRequest(`${url}${path}`, options);
    asked.once("response", resolve).once("error", reject);
    pipeline(request, asked).catch(() => asked.destroy());
  });
}

function passed(headers: IncomingMessage["headers"]): Record<string, string | string[]> {
  const entries = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined || OWN_HEADERS.includes(name) ? [] : [[name, value] as const],
  );
  return Object.fromEntries(entries);
}

/** Keeps the name that the blob itself, or the link, gives the file. */
function attachment({ headers }: IncomingMessage): string {
  const [, name] = /;\s*filename\*?=(.+)$/.exec(headers["content-disposition"] ?? "") ?? [];
  return name === undefined ? "attachment" : `attachment; filename=${name}`;
}
