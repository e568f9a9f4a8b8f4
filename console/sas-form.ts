import type { ConsoleAccount } from "../src/front/console/console-facts.ts";
import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { queryOf, type Token } from "./sas-token.ts";
import { type SasTarget, TARGETS, type TargetWords } from "./sas-words.ts";
import { encodePath } from "./storage.ts";

export type FormKind = "account" | "service" | "user";

/** What the builder's form has, as it is typed. */
export interface SasForm {
  readonly kind: FormKind;
  readonly account: string;
  readonly target: SasTarget;
  readonly holder: string;
  readonly name: string;
  /** The snapshot or version of a blob. */
  readonly revision: string;
  readonly letters: string;
  readonly services: string;
  readonly types: string;
  readonly start: string;
  readonly expiry: string;
  readonly policy: string;
  readonly addresses: string;
  readonly protocol: "" | "https" | "https,http";
  readonly version: string;
  readonly startPartition: string;
  readonly startRow: string;
  readonly endPartition: string;
  readonly endRow: string;
  /** By the field's name: `rsct`. */
  readonly headers: Readonly<Record<string, string>>;
}

/** A user delegation key, as the service hands it out. */
export interface UserKey {
  readonly fields: readonly (readonly [name: string, value: string])[];
  readonly value: string;
}

export const HEADER_FIELDS = ["rscc", "rscd", "rsce", "rscl", "rsct"] as const;

const HOUR_MS = 3_600_000;

export function newForm(account: string, nowMs: number): SasForm {
  return {
    kind: "service",
    account,
    target: "container",
    holder: "",
    name: "",
    revision: "",
    letters: "rl",
    services: "b",
    types: "co",
    start: "",
    expiry: timeAfter(nowMs, HOUR_MS),
    policy: "",
    addresses: "",
    protocol: "",
    version: "2025-07-05",
    startPartition: "",
    startRow: "",
    endPartition: "",
    endRow: "",
    headers: {},
  };
}

export function timeAfter(nowMs: number, ms: number): string {
  return `${new Date(nowMs + ms).toISOString().slice(0, 19)}Z`;
}

export function targetOf({ target }: SasForm): TargetWords {
  return TARGETS[target];
}

/** The token that the form describes, not signed yet. */
export function tokenOf(form: SasForm, userKey: UserKey | null): Token {
  const { kind, account, version, start, expiry, policy, addresses, protocol, letters } = form;
  const { service, sr, name } = targetOf(form);
  const use: Pair[] = [
    ["sp", letters],
    ["st", start.trim()],
    ["se", expiry.trim()],
    ["sip", addresses.trim()],
    ["spr", protocol],
  ];
  if (kind === "account") {
    const own: Pair[] = [
      ["ss", form.services],
      ["srt", form.types],
    ];
    const fields = given([["sv", version], ...own, ...use]);
    return { account, service: "blob", holder: "", name: "", fields };
  }
  const directory = cleanPath(form.name);
  const own: Pair[] = [
    ["sr", sr ?? ""],
    ["sdd", sr === "d" ? String(directory === "" ? 0 : directory.split("/").length) : ""],
    ["tn", service === "table" ? form.holder : ""],
    ...(kind === "service" ? [["si", policy.trim()] as Pair] : []),
    ...(service === "table" ? rangeOf(form) : []),
    ...(["queue", "table"].includes(service)
      ? []
      : HEADER_FIELDS.map((field): Pair => [field, form.headers[field] ?? ""])),
    ...(userKey?.fields ?? []),
    [form.target === "snapshot" ? "snapshot" : "", form.revision.trim()],
    [form.target === "version" ? "versionid" : "", form.revision.trim()],
  ];
  const fields = given([["sv", version], ...own, ...use]);
  const holder = form.holder.trim();
  return { account, service, holder, name: name === null ? "" : directory, fields };
}

type Pair = readonly [name: string, value: string];

function rangeOf({ startPartition, startRow, endPartition, endRow }: SasForm): Pair[] {
  return [
    ["spk", startPartition],
    ["srk", startRow],
    ["epk", endPartition],
    ["erk", endRow],
  ];
}

function given(fields: readonly Pair[]): Pair[] {
  return fields.filter(([name, value]) => name !== "" && value !== "");
}

/** Names of blobs and files, without slashes at either end. */
function cleanPath(path: string): string {
  return path.trim().replace(/^\/+|\/+$/g, "");
}

/** What somebody can do with a signed token. */
export interface SasUses {
  readonly sas: string;
  readonly url: string;
  readonly connectionString: string;
  readonly curl: string;
}

export function usesOf(token: Token, form: SasForm, { urls }: ConsoleAccount): SasUses {
  const sas = queryOf(token.fields);
  const { service, holder, name } = token;
  const services = form.kind === "account" ? servicesOf(form.services) : [service];
  const path = [holder, ...(name === "" ? [] : [name])].filter((part) => part !== "");
  const base = urls[services[0] ?? service] ?? "";
  const at = [base.replace(/\/$/, ""), ...path.map(encodePath)].join("/");
  const endpoints = services.flatMap((one) =>
    urls[one] === undefined ? [] : [`${ENDPOINTS[one]}=${urls[one]}`],
  );
  return {
    sas,
    url: `${at}?${sas}`,
    connectionString: [...endpoints, `SharedAccessSignature=${sas}`].join(";"),
    curl: curlOf(token, form, at, sas, services[0] ?? service),
  };
}

const ENDPOINTS: Readonly<Record<ServiceName, string>> = {
  blob: "BlobEndpoint",
  queue: "QueueEndpoint",
  table: "TableEndpoint",
  file: "FileEndpoint",
  dfs: "BlobEndpoint",
};

const LETTERS_OF: readonly (readonly [string, ServiceName])[] = [
  ["b", "blob"],
  ["q", "queue"],
  ["t", "table"],
  ["f", "file"],
];

function servicesOf(letters: string): ServiceName[] {
  return LETTERS_OF.flatMap(([letter, service]) => (letters.includes(letter) ? [service] : []));
}

/** A request that shows that it works: it reads or lists. */
function curlOf(token: Token, form: SasForm, at: string, sas: string, service: ServiceName) {
  const json = "-H 'Accept: application/json' ";
  if (form.kind === "account") {
    return service === "table"
      ? `curl ${json}'${at}/Tables?${sas}'`
      : `curl '${at}/?comp=list&${sas}'`;
  }
  switch (form.target) {
    case "container":
      return `curl '${at}?restype=container&comp=list&${sas}'`;
    case "directory": {
      const [holder = ""] = [encodePath(token.holder)];
      const root = at.slice(0, at.lastIndexOf(`/${holder}`) + holder.length + 1);
      const directory = encodeURIComponent(token.name);
      return `curl '${root}?resource=filesystem&recursive=false&directory=${directory}&${sas}'`;
    }
    case "queue":
      return `curl '${at}/messages?peekonly=true&${sas}'`;
    case "table":
      return `curl ${json}'${at}?${sas}'`;
    case "share":
      return `curl '${at}?restype=directory&comp=list&${sas}'`;
    default:
      return `curl '${at}?${sas}'`;
  }
}
