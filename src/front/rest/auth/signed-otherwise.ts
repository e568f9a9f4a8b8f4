import { percentDecode } from "../../../base/percent-text.ts";
import type { Query, RequestHeaders, RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import type { Resource, ServiceName } from "./resource.ts";
import { type SasFields, sasField, sasKindOf } from "./sas-fields.ts";
import { sasText, signedRows } from "./sas-text.ts";
import { sharedKeyText } from "./shared-key-text.ts";
import { isSigned, MacKey } from "./signature.ts";

/** The keys of an account, as its users have them. */
export interface StatedKeys {
  readonly name: string;
  /** In Base64. */
  readonly keys: readonly string[];
}

/** What a client has signed instead of what it should have. */
export interface SignedOtherwise {
  readonly text: string;
  /** What it did, and what to do about it. */
  readonly mistake: string;
}

/** A request whose signature no key made, and what is needed to find out why. */
export interface Unsigned {
  readonly request: RestRequest;
  readonly address: KnownAddress;
  readonly resource: Resource;
  readonly signature: string;
  /** What the server signs. */
  readonly text: string;
  /** The account of the request first, then the others whose keys may be tried. */
  readonly accounts: readonly StatedKeys[];
}

type Candidate = readonly [mistake: string, text: () => string];

/**
 * Finds out what a client has signed, by trying mistakes that clients make: with one of them, a key
 * makes the signature. Null if it is none of these.
 */
export function findSignedOtherwise(unsigned: Unsigned): SignedOtherwise | null {
  const { request, address, signature, text } = unsigned;
  const { keys } = address.account;
  const byHeader = request.headers.get("authorization") !== undefined;
  const candidates = byHeader ? sharedKeyMistakes(unsigned) : sasMistakes(unsigned);
  for (const [mistake, make] of candidates) {
    const other = textOrNull(make);
    if (other !== null && isSigned(signature, other, keys)) return { text: other, mistake };
  }
  for (const { key, mistake } of otherKeys(unsigned.accounts)) {
    if (isSigned(signature, text, [key])) return { text, mistake };
  }
  return null;
}

/** Whether a key of the account makes this signature of a text that the client has shown. */
export function isSignatureOf(text: string, { signature, address }: Unsigned): boolean {
  return isSigned(signature, text, address.account.keys);
}

function textOrNull(make: () => string): string | null {
  try {
    return make();
  } catch {
    // Such a request could not have been signed in this way.
    return null;
  }
}

function otherKeys([own, ...others]: readonly StatedKeys[]): { key: MacKey; mistake: string }[] {
  const asText = (own?.keys ?? []).map((key) => ({
    key: new MacKey(Buffer.from(key, "utf8")),
    mistake:
      "The client signed with the text of the key. The key is Base64: decode it, and sign with its bytes.",
  }));
  const ofOthers = others.flatMap(({ name, keys }) =>
    keys.map((key) => ({
      key: new MacKey(Buffer.from(key, "base64")),
      mistake: `The client signed with a key of the account ${name}.`,
    })),
  );
  return [...asText, ...ofOthers];
}

const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since"];
const SIGNED_HEADERS = [
  ...["content-encoding", "content-language", "content-length", "content-md5", "content-type"],
  ...["date", "range", ...CONDITIONS],
];
/** Tells the signing of an older version, in which a length of zero is signed. */
const ZERO_LENGTH_VERSION = "2014-02-14";

function sharedKeyMistakes({ request, address, resource }: Unsigned): Candidate[] {
  const { service } = resource;
  const lite = /^sharedkeylite/i.test(request.headers.get("authorization") ?? "");
  const made = (changed: Partial<RestRequest>, as: ServiceName = service, isLite = lite) => {
    const { method, path, query, headers, version } = { ...request, ...changed };
    return sharedKeyText({ method, path, query, headers, version }, address, as, isLite);
  };
  const { path, query, headers, method } = request;
  const account = `/${address.accountName}`;
  const without = (...names: string[]) => made({ headers: headersWithout(headers, names) });
  const sent = [...new Set(headers.raw.filter((_, at) => at % 2 === 0).map(lower))];
  const signed = sent.filter((name) => name.startsWith("x-ms-") || SIGNED_HEADERS.includes(name));
  const other: Record<string, string> = { GET: "HEAD", HEAD: "GET", PUT: "POST", POST: "PUT" };
  return [
    ...signed.map(
      (name): Candidate => [
        `The client did not sign the header ${name}: something added it after the client signed, such as a proxy or a cache.`,
        () => without(name),
      ],
    ),
    [
      "The client did not sign the conditions (If-Match and the like): a cache may have added them after it signed.",
      () => without(...CONDITIONS),
    ],
    [
      "The client signed a Content-Length of 0 as 0. Since version 2015-02-21 it is signed as an empty line.",
      () =>
        made({
          version: ZERO_LENGTH_VERSION,
          headers: headersWith(headers, "content-length", "0"),
        }),
    ],
    [
      `The client signed the path without the account. In a URL such as http://127.0.0.1:10000${account}/… the account stands twice in the string to sign: ${account}${account}/…`,
      () => made({ path: path.startsWith(`${account}/`) ? path.slice(account.length) : path }),
    ],
    [
      "The client signed the path decoded. It is signed as it is sent, percent-encoded.",
      () => made({ path: percentDecode(path) ?? path }),
    ],
    ["The client did not sign the parameters of the URL.", () => made({ query: NO_QUERY })],
    [
      "The client signed the parameters as they are in the URL. Their values are signed decoded.",
      () => made({ query: encodedQuery(request) }),
    ],
    [
      "The client signed the parameters without sorting them by name.",
      () => unsortedQuery(made({ query: NO_QUERY }), query),
    ],
    [
      "The client signed in the form of SharedKeyLite, and says SharedKey, or the other way round.",
      () => made({}, service, !lite),
    ],
    [
      "The client signed in the form of the Table service, which is another one.",
      () => made({}, service === "table" ? "blob" : "table"),
    ],
    [
      `The client signed the method ${other[method]}, and ${method} was sent.`,
      () => made({ method: other[method] ?? method }),
    ],
  ];
}

function lower(text: string): string {
  return text.toLowerCase();
}

const NO_QUERY: Query = { get: () => undefined, form: () => undefined, entries: [] };

function headersWithout({ raw }: RequestHeaders, names: readonly string[]): RequestHeaders {
  return headersOf(pairsOf(raw).filter(([name]) => !names.includes(lower(name))));
}

function headersWith(headers: RequestHeaders, name: string, value: string): RequestHeaders {
  return headersOf([...pairsOf(headersWithout(headers, [name]).raw), [name, value]]);
}

type Pair = readonly [name: string, value: string];

function pairsOf(raw: readonly string[]): Pair[] {
  return raw.flatMap((name, at): Pair[] => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""]] : []));
}

/** Headers from names and values. */
export function headersOf(pairs: readonly Pair[]): RequestHeaders {
  const byName = new Map(pairs.map(([name, value]) => [lower(name), value]));
  return { raw: pairs.flat(), get: (name) => byName.get(name) };
}

function encodedQuery({ target, query }: RestRequest): Query {
  const mark = target.indexOf("?");
  const parts = (mark < 0 ? "" : target.slice(mark + 1)).split("&").filter((part) => part !== "");
  const entries = parts.map((part): Pair => {
    const at = part.indexOf("=");
    return at < 0 ? [lower(part), ""] : [lower(part.slice(0, at)), part.slice(at + 1)];
  });
  return { ...query, get: (name) => query.get(name), form: (name) => query.form(name), entries };
}

function unsortedQuery(text: string, { entries }: Query): string {
  return text + entries.map(([name, value]) => `\n${name}:${value}`).join("");
}

/** Fields that something may have changed in a finished SAS. */
const CHANGED = ["sp", "st", "se", "sip", "spr", "si", "sr", "ses", "sdd", "rscd", "rsct"];
const OPTIONAL = ["st", "sip", "spr", "si", "ses", "rscc", "rscd", "rsce", "rscl", "rsct"];
const KINDS_OF: Readonly<Record<string, string>> = {
  b: "one blob",
  c: "the container",
  f: "one file",
  s: "the share",
};

function sasMistakes({ request, address, resource }: Unsigned): Candidate[] {
  const { query, headers } = request;
  const kind = sasKindOf(query);
  const rows = signedRows(kind, resource.service);
  const version = sasField(query, "sv");
  const own = rows.find(({ from }) => version >= from);
  const header = (name: string) => headers.get(name);
  const { accountName } = address;
  const made = (
    changed: Record<string, string>,
    at: Partial<Resource> = {},
    fields = own?.fields,
  ) =>
    sasText(fields ?? [], {
      fields: changedFields(query, changed),
      resource: { ...resource, ...at },
      accountName,
      version: changed["@version"] ?? version,
      header,
    });
  const sr = sasField(query, "sr");
  return [
    ...rows
      .filter((row) => row !== own)
      .map(
        ({ from, fields }): Candidate => [
          `The client signed the fields of version ${from || "2009-09-19"}, and says sv=${version}. Sign those of the version that sv names.`,
          () => made({}, {}, fields),
        ],
      ),
    ...Object.entries(KINDS_OF)
      .filter(([other]) => other !== sr)
      .map(
        ([other, words]): Candidate => [
          `It was signed for ${words} (sr=${other}), and says sr=${sr}.`,
          () => made({ sr: other }),
        ],
      ),
    [
      "The client signed the name percent-encoded. It is signed decoded.",
      () => made({}, { name: resource.name.split("/").map(encodeURIComponent).join("/") }),
    ],
    [
      "The client signed the resource without the service in front: /account/… Since version 2015-02-21 it is /blob/account/…",
      () => made({ "@version": "2014-02-14" }, {}, own?.fields),
    ],
    ...OPTIONAL.filter((name) => sasField(query, name) !== "").map(
      (name): Candidate => [
        `The client did not sign ${name}: it was added to the SAS afterwards.`,
        () => made({ [name]: "" }),
      ],
    ),
    [
      "The client signed the letters of sp in another order than they are in the URL.",
      () => made({ sp: ordered(sasField(query, "sp")) }),
    ],
    ...["r", "rl", "rw", "rwd", "rwdl", "racwd", "racwdl"].map(
      (letters): Candidate => [
        `It was signed for sp=${letters}, and somebody changed that to sp=${sasField(query, "sp")}.`,
        () => made({ sp: letters }),
      ],
    ),
    ...CHANGED.filter((name) => sasField(query, name).includes("%")).map(
      (name): Candidate => [
        `${name} is percent-encoded twice in the URL.`,
        () => made({ [name]: percentDecode(sasField(query, name)) ?? "" }),
      ],
    ),
  ];
}

const ORDER = "racwdxyltmeopfui";

function ordered(letters: string): string {
  return [...letters].sort((one, other) => ORDER.indexOf(one) - ORDER.indexOf(other)).join("");
}

function changedFields(query: SasFields, changed: Readonly<Record<string, string>>): SasFields {
  return {
    get: (name) => changed[name] ?? query.get(name),
    form: (name) => changed[name] ?? query.form(name),
  };
}
