import type { KeyRange } from "../../../rules/access.ts";
import type { Query, RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import type { Resource, ServiceName } from "./resource.ts";
import {
  overridesOf,
  requireSasField,
  requireSignature,
  requireTermsMet,
  type SasGrant,
  sasField,
  sasVersion,
  validityOf,
} from "./sas.ts";
import { authenticationFailed } from "./signature.ts";
import { type Row, rowFor, words } from "./signed-fields.ts";
import { isForOneBlob, signedResource, signedTime } from "./signed-resource.ts";

/** The fields of the string to sign, in order. `@resource` and `@time` come from the request. */
const HEAD_2012 = "sp st se @resource si";
const HEAD_2015 = "sp st se @resource si sip spr sv";
const RANGE = "spk srk epk erk";
const RESPONSE = "rscc rscd rsce rscl rsct";

const BLOB: readonly Row[] = [
  { from: "2020-12-06", fields: words(`${HEAD_2015} sr @time ses ${RESPONSE}`) },
  { from: "2018-11-09", fields: words(`${HEAD_2015} sr @time ${RESPONSE}`) },
  { from: "2015-04-05", fields: words(`${HEAD_2015} ${RESPONSE}`) },
  { from: "2013-08-15", fields: words(`${HEAD_2012} sv ${RESPONSE}`) },
  { from: "2012-02-12", fields: words(`${HEAD_2012} sv`) },
  { from: "", fields: words(HEAD_2012) },
];

const ROWS: Readonly<Record<ServiceName, readonly Row[]>> = {
  blob: BLOB,
  dfs: BLOB,
  file: [
    { from: "2015-04-05", fields: words(`${HEAD_2015} ${RESPONSE}`) },
    { from: "2015-02-21", fields: words(`${HEAD_2012} sv ${RESPONSE}`) },
  ],
  queue: [
    { from: "2015-04-05", fields: words(HEAD_2015) },
    { from: "2012-02-12", fields: words(`${HEAD_2012} sv`) },
  ],
  table: [
    { from: "2015-04-05", fields: words(`${HEAD_2015} ${RANGE}`) },
    { from: "2012-02-12", fields: words(`${HEAD_2012} sv ${RANGE}`) },
  ],
};

/**
 * Verifies a SAS for a container, share, queue, table or something in it, signed with an account
 * key.
 */
export function verifyServiceSas(
  request: RestRequest,
  address: KnownAddress,
  resource: Resource,
): SasGrant {
  const { query } = request;
  const version = sasVersion(query);
  const row = rowFor(ROWS[resource.service], version);
  const policyId = sasField(query, "si");
  if (policyId === "") {
    requireSasField(query, "sp");
    requireSasField(query, "se");
  }
  const validity = validityOf(query);
  const keyRange = resource.service === "table" ? keyRangeOf(query) : null;

  const signed = signedResource(query, resource, address.accountName, version);
  const lines = row.fields.map((field) => {
    if (field === "@resource") return signed;
    return field === "@time" ? signedTime(query) : sasField(query, field);
  });
  requireSignature(query, lines.join("\n"), address.account.keys);
  requireTermsMet(request, validity);

  const letters = sasField(query, "sp") || null;
  const policy = policyId === "" ? null : { id: policyId, ...validity };
  return {
    access: {
      kind: "service-sas",
      letters,
      policy,
      ...(isForOneBlob(query) ? { isForOne: true } : {}),
    },
    overrides: row.fields.includes("rscc") ? overridesOf(query) : [],
    keyRange,
    encryptionScope: (row.fields.includes("ses") && sasField(query, "ses")) || null,
  };
}

function keyRangeOf(query: Query): KeyRange {
  const bound = (name: string) => (query.get(name) === undefined ? null : sasField(query, name));
  const [startPartition, startRow] = [bound("spk"), bound("srk")];
  const [endPartition, endRow] = [bound("epk"), bound("erk")];
  if (startRow !== null && startPartition === null) throw authenticationFailed("srk needs spk.");
  if (endRow !== null && endPartition === null) throw authenticationFailed("erk needs epk.");
  const table = sasField(query, "tn").toLowerCase();
  return { table, startPartition, startRow, endPartition, endRow };
}
