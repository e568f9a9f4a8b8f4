import { Fault } from "../../../base/fault.ts";
import type { RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import { SERVICE_LETTERS, type ServiceName } from "./resource.ts";
import {
  requireSasField,
  requireSignature,
  requireTermsMet,
  SAS_2015,
  type SasGrant,
  sasField,
  sasVersion,
  validityOf,
} from "./sas.ts";
import { authenticationFailed } from "./signature.ts";

const FIELDS = ["sp", "ss", "srt", "st", "se", "sip", "spr", "sv"];
const FIELDS_2020 = [...FIELDS, "ses"];
const ENCRYPTION_SCOPE_FROM = "2020-12-06";

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
  if (version < SAS_2015) throw authenticationFailed(`sv must be ${SAS_2015} or later.`);
  const services = requireSasField(query, "ss");
  const types = requireSasField(query, "srt");
  const letters = requireSasField(query, "sp");
  requireSasField(query, "se");
  const validity = validityOf(query);

  const scoped = version >= ENCRYPTION_SCOPE_FROM;
  let text = `${address.accountName}\n`;
  for (const name of scoped ? FIELDS_2020 : FIELDS) text += `${sasField(query, name)}\n`;
  requireSignature(query, text, address.account.keys);
  requireTermsMet(request, validity);
  if (!services.includes(SERVICE_LETTERS[service])) throw new Fault("AuthorizationServiceMismatch");

  return {
    access: { kind: "account-sas", types, letters },
    overrides: [],
    keyRange: null,
    encryptionScope: (scoped && sasField(query, "ses")) || null,
  };
}
