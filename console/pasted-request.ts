import { parseHttpDate } from "../src/base/time-text.ts";
import type { Home } from "../src/front/console/answers.ts";
import type { ServiceName } from "../src/front/rest/auth/resource.ts";

/** A request that somebody pasted. */
export interface PastedRequest {
  readonly service: ServiceName;
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The time that it says it was sent; null if it does not say. */
  readonly sentMs: number | null;
}

/** Reads a request line with headers below it, or a curl command; a text says what is missing. */
export function readRequest(text: string, home: Home): PastedRequest | string {
  const pasted = text.trim();
  const { method, url, headers } = pasted.startsWith("curl") ? fromCurl(pasted) : fromLines(pasted);
  const host = Object.entries(headers).find(([name]) => name.toLowerCase() === "host")?.[1];
  const whole = url.startsWith("/") && host !== undefined ? `http://${host}${url}` : url;
  if (!URL.canParse(whole)) {
    return "The first line is the method and the whole URL: GET http://127.0.0.1:10000/account/container/blob";
  }
  const dates = Object.entries(headers).filter(([name]) => /^(x-ms-)?date$/i.test(name));
  const date = dates.find(([name]) => name.toLowerCase() === "x-ms-date") ?? dates[0];
  const sentMs = date === undefined ? null : parseHttpDate(date[1]);
  return { service: serviceAt(new URL(whole), home), method, url: whole, headers, sentMs };
}

function fromLines(text: string) {
  const [first = "", ...lines] = text.split(/\r?\n/);
  const [, method = "GET", url = ""] = /^(?:([A-Za-z]+)\s+)?(\S+)/.exec(first.trim()) ?? [];
  return { method, url, headers: headersIn(lines) };
}

function fromCurl(text: string) {
  const words = [...text.matchAll(/'([^']*)'|"([^"]*)"|([^\s\\]+)/g)].map(
    ([, single, double, bare]) => single ?? double ?? bare ?? "",
  );
  const behind = (...flags: string[]) =>
    words.flatMap((word, at) => (flags.includes(word) ? [words[at + 1] ?? ""] : []));
  const isHead = words.includes("-I") || words.includes("--head");
  const [method = isHead ? "HEAD" : "GET"] = behind("-X", "--request");
  const url = words.find((word) => /^https?:\/\//.test(word)) ?? "";
  return { method, url, headers: headersIn(behind("-H", "--header")) };
}

function headersIn(lines: readonly string[]): Record<string, string> {
  const pairs = lines.flatMap((line) => {
    const colon = line.indexOf(":");
    return colon <= 0 ? [] : [[line.slice(0, colon).trim(), line.slice(colon + 1).trim()] as const];
  });
  return Object.fromEntries(pairs);
}

/** By its port, or by a host such as `account.queue.localhost`. */
function serviceAt(url: URL, { urls }: Home): ServiceName {
  const byPort = Object.entries(urls).find(
    ([name, at]) => name !== "smb" && URL.canParse(at) && new URL(at).port === url.port,
  );
  const byHost = /\.(blob|queue|table|file|dfs)\./.exec(url.hostname)?.[1];
  return (byPort?.[0] ?? byHost ?? "blob") as ServiceName;
}
