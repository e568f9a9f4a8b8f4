import { Fault } from "../../../base/fault.ts";
import type { RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import { SERVICE_LETTERS, type ServiceName } from "./resource.ts";
import { requireSignature, requireTermsMet, type SasGrant, sasVersion } from "./sas.ts";
import { requireSasField, sasField, validityOf } from "./sas-fields.ts";
import { sasText, signedFields } from "./sas-text.ts";

/**
 * Verifies a SAS for a whole account: `ss` names the services it grants, `srt` the resource types.
 */
export function verifyAccountSas(
  request: RestRequest,
  address: KnownAddress,
  service: ServiceName,
): SasGrant {
  const { query } = request;
  const version = sasVersion(query);
  const signed = signedFields("accountSas", service, version);
  const services = requireSasField(query, "ss");
  const types = requireSasField(query, "srt");
  const letters = requireSasField(query, "sp");
  requireSasField(query, "se");
  const validity = validityOf(query);

  const { accountName } = address;
  const header = (name: string) => request.headers.get(name);
  const resource = { service, container: "", name: "" };
  const text = sasText(signed, { fields: query, resource, accountName, version, header });
  requireSignature(query, text, address.account.keys);
  requireTermsMet(request, validity);
  if (!services.includes(SERVICE_LETTERS[service])) throw new Fault("AuthorizationServiceMismatch");

  return {
    access: { kind: "account-sas", types, letters },
    overrides: [],
    keyRange: null,
    encryptionScope: (signed.includes("ses") && sasField(query, "ses")) || null,
  };
}
