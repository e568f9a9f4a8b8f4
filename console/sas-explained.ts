import { durationText } from "../src/base/amount-text.ts";
import { Fault } from "../src/base/fault.ts";
import type { Home } from "../src/front/console/answers.ts";
import type { ConsoleAccount } from "../src/front/console/console-facts.ts";
import { parseIpRange } from "../src/front/rest/auth/ip-range.ts";
import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import {
  MAY_HAVE_BLANKS,
  requireWithinValidity,
  SAS_FIELDS,
  sasTime,
  validityOf,
} from "../src/front/rest/auth/sas-fields.ts";
import { fieldsOf, kindOf, signedNames, type Token, textOf } from "./sas-token.ts";
import {
  FIELD_WORDS,
  letterText,
  resourceText,
  SERVICES_OF_ACCOUNT,
  TYPES_OF_ACCOUNT,
} from "./sas-words.ts";
import { importKey, sign } from "./signing.ts";

/** A field of a SAS in words. */
export interface ExplainedField {
  readonly name: string;
  readonly value: string;
  readonly words: readonly string[];
  readonly isSigned: boolean;
}

/** What is wrong with a SAS, or worth knowing. */
export interface Remark {
  readonly isProblem: boolean;
  readonly text: string;
}

/** Reads a URL with a SAS, a SAS alone, or a connection string with one. */
export function readPasted(text: string, home: Home): Token | null {
  const pasted = text.trim();
  const [, inString] = /SharedAccessSignature=([^;\s]+)/i.exec(pasted) ?? [];
  const [, url = "", behind = ""] = /^([^?]*)\?(.*)$/s.exec(inString ?? pasted) ?? [];
  const query = behind || (inString ?? (pasted.includes("=") ? pasted : ""));
  const fields = fieldsIn(query);
  if (!fields.some(([name]) => SAS_FIELDS.has(name))) return null;
  const place = placeOf(url || (/BlobEndpoint=([^;\s]+)/i.exec(pasted)?.[1] ?? ""), home);
  const token = { account: place.account, service: "blob" as const, holder: "", name: "", fields };
  const service = serviceOf(fields, place.service);
  const [holder = "", ...rest] = place.names;
  const table = fieldsOf(token).get("tn");
  if (service === "table") return { ...token, service, holder: table ?? holder };
  return { ...token, service, holder, name: service === "queue" ? "" : rest.join("/") };
}

function fieldsIn(query: string): [string, string][] {
  return query
    .split("&")
    .filter((part) => part !== "")
    .map((part) => {
      const at = part.indexOf("=");
      const name = decoded(at < 0 ? part : part.slice(0, at)).toLowerCase();
      const value = at < 0 ? "" : part.slice(at + 1);
      return [name, decoded(MAY_HAVE_BLANKS.has(name) ? value.replaceAll("+", "%20") : value)];
    });
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** What a URL says about account, service and names. */
function placeOf(text: string, { accounts, urls }: Home) {
  const url = URL.canParse(text) ? new URL(text) : null;
  const service = Object.entries(urls).find(
    ([, at]) => url !== null && URL.canParse(at) && new URL(at).port === url.port,
  )?.[0] as ServiceName | undefined;
  const names = (url?.pathname ?? "")
    .split("/")
    .slice(1)
    .filter((name) => name !== "")
    .map(decoded);
  const inHost = url?.hostname.split(".")[0] ?? "";
  const known = (name: string) => accounts.some((one) => one.name === name);
  if (known(names[0] ?? "")) return { account: names[0] ?? "", service, names: names.slice(1) };
  const account = known(inHost) ? inHost : (accounts[0]?.name ?? "");
  return { account, service, names };
}

function serviceOf(fields: Token["fields"], atPort: ServiceName | undefined): ServiceName {
  const { get } = fieldsOf({ fields });
  const sr = get("sr") ?? "";
  if (get("tn") !== undefined) return "table";
  if (["s", "f"].includes(sr)) return "file";
  if (sr !== "" && sr !== "q") return atPort === "dfs" ? "dfs" : "blob";
  return atPort ?? (kindOf({ fields }) === "serviceSas" ? "queue" : "blob");
}

/** Every field in words. Times are told relative to `nowMs`. */
export function explainFields(token: Token, nowMs: number): ExplainedField[] {
  const signed = signedOrNone(token);
  return token.fields.map(([name, value]) => ({
    name,
    value,
    words: wordsOf(token, name, value, nowMs),
    isSigned:
      signed.includes(name) ||
      (name === "tn" && signed.includes("spk")) ||
      (name === "sdd" && signed.includes("@resource")) ||
      (["snapshot", "versionid"].includes(name) && isBoundTo(token, name)),
  }));
}

function isBoundTo(token: Token, name: string): boolean {
  const sr = fieldsOf(token).get("sr");
  return signedOrNone(token).includes("@time") && sr === (name === "snapshot" ? "bs" : "bv");
}

function signedOrNone(token: Token): readonly string[] {
  try {
    return signedNames(token);
  } catch {
    return [];
  }
}

function wordsOf(token: Token, name: string, value: string, nowMs: number): string[] {
  const kind = kindOf(token);
  const about = FIELD_WORDS[name];
  if (about === undefined) return ["Not part of the SAS: a parameter of the request."];
  const lettersIn = (known: readonly (readonly [string, string])[]) =>
    [...value].map((letter) => `${letter}: ${new Map(known).get(letter) ?? "unknown"}`);
  switch (name) {
    case "sp":
      return [
        about,
        ...[...value].map((one) => `${one}: ${letterText(kind, token.service, one) ?? "unknown"}`),
      ];
    case "ss":
      return [about, ...lettersIn(SERVICES_OF_ACCOUNT)];
    case "srt":
      return [about, ...lettersIn(TYPES_OF_ACCOUNT)];
    case "sr":
      return [about, `${value}: ${resourceText(value)}`];
    case "st":
    case "se":
    case "skt":
    case "ske": {
      const at = attempt(() => sasTime(fieldsOf(token), name));
      return [about, ...(typeof at === "number" ? [relative(at, nowMs)] : [])];
    }
    default:
      return [about];
  }
}

function relative(atMs: number, nowMs: number): string {
  const away = durationText(Math.abs(atMs - nowMs));
  return atMs > nowMs ? `That is in ${away}.` : `That was ${away} ago.`;
}

/** Everything that is missing, contradicts or is of no effect, in the server's words where it has them. */
export function remarksOn(token: Token, nowMs: number, isSecure: boolean): Remark[] {
  const { get } = fieldsOf(token);
  const kind = kindOf(token);
  const has = (name: string) => (get(name) ?? "") !== "";
  const problems: (string | null)[] = [
    ...repeated(token),
    ...missing(token).map((name) => `${name} is missing. ${FIELD_WORDS[name] ?? ""}`),
    refusalOf(() => signedNames(token)),
    outOfTime(token, nowMs),
    has("sip") && parseIpRange(get("sip") ?? "") === null
      ? "sip is neither an IPv4 address nor a range of them (10.0.0.1-10.0.0.9)."
      : null,
    has("spr") && !["https", "https,http"].includes(get("spr") ?? "")
      ? "spr must be https or https,http."
      : null,
    get("spr") === "https" && !isSecure
      ? "spr permits HTTPS only, and this server is reached over HTTP: it refuses every use."
      : null,
    has("srk") && !has("spk") ? "srk needs spk." : null,
    has("erk") && !has("epk") ? "erk needs epk." : null,
    has("spk") && has("epk") && (get("spk") ?? "") > (get("epk") ?? "")
      ? "The first partition (spk) is behind the last one (epk): it opens nothing."
      : null,
    kind === "userDelegationSas" && has("si")
      ? "A user delegation SAS cannot use a stored access policy (si)."
      : null,
    has("ses") ? "Writes with an encryption scope (ses) are refused: this server has none." : null,
    ...[...(get("sp") ?? "")]
      .filter((letter) => letterText(kind, token.service, letter) === null)
      .map((letter) => `sp: the letter ${letter} means nothing here.`),
  ];
  const signed = signedOrNone(token);
  const notes: (string | null)[] = [
    has("si") && (has("sp") || has("se"))
      ? "What stands here (sp, st, se) must not stand in the stored policy as well, or every use is refused."
      : null,
    has("si") && !has("sp") ? "The stored policy says what it permits." : null,
    ...token.fields
      .filter(([name]) => SAS_FIELDS.has(name) && !["sig", "tn", "sdd", "sr"].includes(name))
      .filter(([name]) => signed.length > 0 && !signed.includes(name))
      .map(([name]) => `${name} is not signed in this version, and so has no effect.`),
  ];
  return [
    ...problems.flatMap((text) => (text === null ? [] : [{ isProblem: true, text }])),
    ...notes.flatMap((text) => (text === null ? [] : [{ isProblem: false, text }])),
  ];
}

/** Says in words why it is not valid now; null if it is. */
function outOfTime(token: Token, nowMs: number): string | null {
  const validity = attempt(() => validityOf(fieldsOf(token)));
  if (validity instanceof Fault) return sentenceOf(validity);
  const refusal = attempt(() => requireWithinValidity(validity, nowMs));
  if (!(refusal instanceof Fault)) return null;
  const { startMs, expiryMs } = validity;
  if (startMs !== null && expiryMs !== null && expiryMs <= startMs) return sentenceOf(refusal);
  if (startMs !== null && startMs > nowMs) {
    return `It is not valid yet: it begins in ${durationText(startMs - nowMs)}.`;
  }
  return `It has expired, ${durationText(nowMs - (expiryMs ?? nowMs))} ago.`;
}

function repeated({ fields }: Token): string[] {
  const names = fields.map(([name]) => name).filter((name) => SAS_FIELDS.has(name));
  const twice = new Set(names.filter((name, at) => names.indexOf(name) !== at));
  return [...twice].map((name) => `${name} is given more than once.`);
}

function missing(token: Token): string[] {
  const { get } = fieldsOf(token);
  const needed = ((): string[] => {
    switch (kindOf(token)) {
      case "accountSas":
        return ["sv", "ss", "srt", "sp", "se"];
      case "userDelegationSas":
        return ["sv", "sp", "se", "skoid", "sktid", "skt", "ske", "sks", "skv"];
      case "serviceSas":
        return get("si") === undefined ? ["sp", "se"] : [];
    }
  })();
  const { service } = token;
  const isTyped = kindOf(token) !== "accountSas" && !["queue", "table"].includes(service);
  if (isTyped) needed.push("sr");
  if (get("sr") === "d") needed.push("sdd");
  return [...needed, "sig"].filter((name) => (get(name) ?? "") === "");
}

function refusalOf(body: () => unknown): string | null {
  const failure = attempt(body);
  return failure instanceof Fault ? sentenceOf(failure) : null;
}

/** The value, or the Fault that it threw. */
function attempt<T>(body: () => T): T | Fault {
  try {
    return body();
  } catch (error) {
    if (error instanceof Fault) return error;
    throw error;
  }
}

/** What the server would say. */
export function sentenceOf({ code, detail }: Fault): string {
  return detail.AuthenticationErrorDetail ?? code;
}

export interface SignatureCheck {
  readonly text: string | null;
  readonly verdict: string;
  readonly fits: boolean | null;
}

/** Whether a key of the account made the signature. Compared in the browser: keys stay here. */
export async function checkSignature(
  token: Token,
  accounts: readonly ConsoleAccount[],
): Promise<SignatureCheck> {
  const kind = kindOf(token);
  const sig = fieldsOf(token).get("sig") ?? "";
  const text = attempt(() => textOf(token));
  if (text instanceof Fault) return { text: null, verdict: sentenceOf(text), fits: null };
  if (kind === "serviceSas" && token.holder === "") {
    const verdict = "Paste the whole URL to check the signature: it covers the resource.";
    return { text: null, verdict, fits: null };
  }
  if (kind === "userDelegationSas") {
    const verdict = "Signed with a user delegation key, which only the server can derive: ask it.";
    return { text, verdict, fits: null };
  }
  const keys = accounts.find(({ name }) => name === token.account)?.keys ?? [];
  for (const [at, key] of keys.entries()) {
    if ((await sign(await importKey(key), text)) === sig) {
      const verdict = `The signature is right: key ${at + 1} of ${token.account} made it.`;
      return { text, verdict, fits: true };
    }
  }
  const verdict = `No key of ${token.account} made this signature. The server signs the string below.`;
  return { text, verdict, fits: false };
}
