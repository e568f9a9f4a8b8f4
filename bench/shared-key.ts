import { createHmac, randomUUID } from "node:crypto";

export const ACCOUNT = "devstoreaccount1";
/** The well-known key of the development account, which every emulator of the service documents. */
export const KEY = Buffer.from(
  "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==",
  "base64",
);
const VERSION = "2024-11-04";
const WITH_BODY = ["PATCH", "POST", "PUT"];

export interface Request {
  readonly method: "DELETE" | "GET" | "HEAD" | "PATCH" | "POST" | "PUT";
  /** The path below the account: `/container/blob` or `/queue/messages`. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  readonly headers?: Readonly<Record<string, string>>;
  /** `application/xml` if it is not given. */
  readonly accept?: string;
  readonly body?: Buffer;
  /** The length of a body that is sent separately. */
  readonly bodyBytes?: number;
}

/** Formats a signed request. The signature is valid for 15 minutes. */
export function signed(port: number, request: Request): Buffer {
  const url = `/${ACCOUNT}${request.path}`;
  const query = Object.entries(request.query ?? {}).sort(([a], [b]) => (a < b ? -1 : 1));
  const body = request.body ?? Buffer.alloc(0);
  const msHeaders: Record<string, string> = {
    ...request.headers,
    "x-ms-client-request-id": randomUUID(),
    "x-ms-date": new Date().toUTCString(),
    "x-ms-version": VERSION,
  };
  const names = Object.keys(msHeaders).sort();
  const bodyBytes = request.bodyBytes ?? body.length;
  const contentType = bodyBytes === 0 ? "" : "application/octet-stream";
  const contentLength = bodyBytes === 0 ? "" : String(bodyBytes);
  const toSign = [
    request.method,
    ...["", "", contentLength, "", contentType, "", "", "", "", "", ""],
    ...names.map((name) => `${name}:${msHeaders[name]}`),
    [`/${ACCOUNT}${url}`, ...query.map(([name, value]) => `${name}:${value}`)].join("\n"),
  ].join("\n");
  const signature = createHmac("sha256", KEY).update(toSign).digest("base64");
  const search = query.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
  const head = [
    `${request.method} ${url}${search === "" ? "" : `?${search}`} HTTP/1.1`,
    `Host: 127.0.0.1:${port}`,
    `Accept: ${request.accept ?? "application/xml"}`,
    "User-Agent: bench",
    ...names.map((name) => `${name}: ${msHeaders[name]}`),
    ...(WITH_BODY.includes(request.method) ? [`Content-Length: ${bodyBytes}`] : []),
    ...(contentType === "" ? [] : [`Content-Type: ${contentType}`]),
    `Authorization: SharedKey ${ACCOUNT}:${signature}`,
  ];
  return Buffer.concat([Buffer.from(`${head.join("\r\n")}\r\n\r\n`), body]);
}
