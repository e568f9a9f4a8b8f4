import type { KeyRange } from "../../../rules/access.ts";
import type { Query, RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import { authenticationFailed } from "./refusals.ts";
import type { Resource } from "./resource.ts";
import {
  overridesOf,
  requireSignature,
  requireTermsMet,
  type SasGrant,
  sasVersion,
} from "./sas.ts";
import { requireSasField, sasField, validityOf } from "./sas-fields.ts";
import { sasText, signedFields } from "./sas-text.ts";
import { isForOneBlob } from "./signed-resource.ts";

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
  const signed = signedFields("serviceSas", resource.service, version);
  const policyId = sasField(query, "si");
  if (policyId === "") {
    requireSasField(query, "sp");
    requireSasField(query, "se");
  }
  const validity = validityOf(query);
  const keyRange = resource.service === "table" ? keyRangeOf(query) : null;

  const { accountName } = address;
  const header = (name: string) => request.headers.get(name);
  const text = sasText(signed, { fields: query, resource, accountName, version, header });
  requireSignature(query, text, address.account.keys);
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
    overrides: signed.includes("rscc") ? overridesOf(query) : [],
    keyRange,
    encryptionScope: (signed.includes("ses") && sasField(query, "ses")) || null,
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
