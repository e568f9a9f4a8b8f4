import type { Resource, ServiceName } from "./resource.ts";
import { type SasFields, type SasKind, sasField } from "./sas-fields.ts";
import { type Row, rowFor, words } from "./signed-fields.ts";
import { signedResource, signedTime } from "./signed-resource.ts";

// Pure: the console's page signs the same strings in the browser that the server verifies.

/** Since this version, tokens can name addresses and protocols, and can be for a whole account. */
export const SAS_2015 = "2015-04-05";

// The fields of the strings to sign, in order. Those with `@` are not fields of the token.
const HEAD_2012 = "sp st se @resource si";
const HEAD_2015 = "sp st se @resource si sip spr sv";
const RANGE = "spk srk epk erk";
const RESPONSE = "rscc rscd rsce rscl rsct";

const BLOB: readonly Row[] = [
  { from: "2020-12-06", fields: words(`${HEAD_2015} sr @time ses ${RESPONSE}`) },
  { from: "2018-11-09", fields: words(`${HEAD_2015} sr @time ${RESPONSE}`) },
  { from: SAS_2015, fields: words(`${HEAD_2015} ${RESPONSE}`) },
  { from: "2013-08-15", fields: words(`${HEAD_2012} sv ${RESPONSE}`) },
  { from: "2012-02-12", fields: words(`${HEAD_2012} sv`) },
  { from: "", fields: words(HEAD_2012) },
];

const OF_SERVICE: Readonly<Record<ServiceName, readonly Row[]>> = {
  blob: BLOB,
  dfs: BLOB,
  file: [
    { from: SAS_2015, fields: words(`${HEAD_2015} ${RESPONSE}`) },
    { from: "2015-02-21", fields: words(`${HEAD_2012} sv ${RESPONSE}`) },
  ],
  queue: [
    { from: SAS_2015, fields: words(HEAD_2015) },
    { from: "2012-02-12", fields: words(`${HEAD_2012} sv`) },
  ],
  table: [
    { from: SAS_2015, fields: words(`${HEAD_2015} ${RANGE}`) },
    { from: "2012-02-12", fields: words(`${HEAD_2012} sv ${RANGE}`) },
  ],
};

const ACCOUNT = "@account sp ss srt st se sip spr sv";
/** The string ends with a line end. */
const OF_ACCOUNT: readonly Row[] = [
  { from: "2020-12-06", fields: words(`${ACCOUNT} ses @end`) },
  { from: SAS_2015, fields: words(`${ACCOUNT} @end`) },
];

const USER = "sp st se @resource skoid sktid skt ske sks skv";
/** Users that a user delegation SAS names. */
export const AGENTS = "saoid suoid scid";
/** The user that it is bound to. */
export const DELEGATE = "skdutid sduoid";
const USE = "sip spr sv";

const BLOB_OF_USER: readonly Row[] = [
  {
    from: "2026-04-06",
    fields: words(
      `${USER} ${AGENTS} ${DELEGATE} ${USE} sr @time ses @headers @parameters ${RESPONSE}`,
    ),
  },
  {
    from: "2025-07-05",
    fields: words(`${USER} ${AGENTS} ${DELEGATE} ${USE} sr @time ses ${RESPONSE}`),
  },
  { from: "2020-12-06", fields: words(`${USER} ${AGENTS} ${USE} sr @time ses ${RESPONSE}`) },
  { from: "2020-02-10", fields: words(`${USER} ${AGENTS} ${USE} sr @time ${RESPONSE}`) },
  { from: "2018-11-09", fields: words(`${USER} ${USE} sr @time ${RESPONSE}`) },
];

const OF_USER: Readonly<Record<ServiceName, readonly Row[]>> = {
  blob: BLOB_OF_USER,
  dfs: BLOB_OF_USER,
  file: [{ from: "2025-07-05", fields: words(`${USER} ${DELEGATE} ${USE} ${RESPONSE}`) }],
  queue: [{ from: "2025-07-05", fields: words(`${USER} ${DELEGATE} ${USE}`) }],
  table: [],
};

/** Returns all versions of the fields that a kind of token signs, the newest first. */
export function signedRows(kind: SasKind, service: ServiceName): readonly Row[] {
  switch (kind) {
    case "accountSas":
      return OF_ACCOUNT;
    case "serviceSas":
      return OF_SERVICE[service];
    case "userDelegationSas":
      return OF_USER[service];
  }
}

/** Returns the fields that a token of this version signs, in order. */
export function signedFields(
  kind: SasKind,
  service: ServiceName,
  version: string,
): readonly string[] {
  return rowFor(signedRows(kind, service), version).fields;
}

/** A token, with the parts of a request that it signs. */
export interface SasToSign {
  readonly fields: SasFields;
  readonly resource: Resource;
  readonly accountName: string;
  readonly version: string;
  /** The value of a header, by its name in lower case. */
  header(name: string): string | undefined;
}

/** The string to sign, with these fields. Throws a 403 if the token is for no such resource. */
export function sasText(signed: readonly string[], asked: SasToSign): string {
  return signed.map((field) => lineOf(field, asked)).join("\n");
}

function lineOf(field: string, { fields, resource, accountName, version, header }: SasToSign) {
  switch (field) {
    case "@account":
      return accountName;
    case "@resource":
      return signedResource(fields, resource, accountName, version);
    case "@time":
      return signedTime(fields);
    case "@headers":
      return listed(fields, "srh")
        .map((name) => `${name}:${header(name.toLowerCase()) ?? ""}\n`)
        .join("");
    case "@parameters":
      return listed(fields, "srq")
        .map((name) => `\n${name}:${fields.get(name.toLowerCase()) ?? ""}`)
        .join("");
    case "@end":
      return "";
    default:
      return sasField(fields, field);
  }
}

function listed(fields: SasFields, name: string): string[] {
  const names = sasField(fields, name);
  return names === "" ? [] : names.split(",");
}
