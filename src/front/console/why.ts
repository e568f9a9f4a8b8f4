import { REST_SERVICE_NAMES, type RestServiceName, type SentRequest } from "../outcome.ts";

/** A pasted request, as `POST /api/why` takes it. */
export interface WhyAsked {
  readonly service: RestServiceName;
  readonly sent: SentRequest;
  readonly shownText: string | null;
}

const ABSOLUTE = /^(https?):\/\/([^/?#\s]+)(\/[^#\s]*)$/i;
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
/** Whatever a listener would not let through. */
const NOT_IN_VALUES = /[\r\n\0]/;

/** Reads what was asked; a text says what is wrong with it. */
export function readWhy(
  asked: Readonly<Record<string, unknown>>,
  remoteAddress: string,
  nowMs: number,
): WhyAsked | string {
  const { service, method = "GET", url, headers = {}, stringToSign = null, atMs = nowMs } = asked;
  const name = REST_SERVICE_NAMES.find((one) => one === service);
  if (name === undefined) return `service is one of ${REST_SERVICE_NAMES.join(", ")}.`;
  if (typeof method !== "string" || !TOKEN.test(method)) return "method is one such as GET.";
  const [, scheme = "", host = "", target = ""] = ABSOLUTE.exec(String(url)) ?? [];
  if (target === "") return "url is a whole URL: http://127.0.0.1:10000/account/container/blob";
  if (typeof atMs !== "number" || !Number.isFinite(atMs)) return "atMs is a time.";
  const pairs = Object.entries(headers ?? {}).map(
    ([name, value]) => [name, String(value)] as const,
  );
  const wrong = pairs.find(([name, value]) => !TOKEN.test(name) || NOT_IN_VALUES.test(value));
  if (wrong !== undefined) return `${JSON.stringify(wrong[0])} is no header.`;
  if (stringToSign !== null && typeof stringToSign !== "string") return "stringToSign is a text.";
  const hasHost = pairs.some(([name]) => name.toLowerCase() === "host");
  const sent = {
    method: method.toUpperCase(),
    target,
    headers: [...(hasHost ? [] : ["Host", host]), ...pairs.flat()],
    isSecure: scheme.toLowerCase() === "https",
    remoteAddress,
    receivedMs: atMs,
    judgedMs: atMs,
  };
  return { service: name, sent, shownText: stringToSign };
}
