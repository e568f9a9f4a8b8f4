import type { SasUser } from "../../../rules/access.ts";
import type { CallerClaims } from "../../../rules/roles.ts";
import type { Query, RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import { authenticationFailed } from "./refusals.ts";
import { type Resource, SERVICE_LETTERS, type ServiceName } from "./resource.ts";
import {
  overridesOf,
  requireSignature,
  requireTermsMet,
  type SasGrant,
  sasVersion,
} from "./sas.ts";
import {
  requireSasField,
  requireWithinValidity,
  sasField,
  sasTime,
  validityOf,
} from "./sas-fields.ts";
import { AGENTS, DELEGATE, sasText, signedFields } from "./sas-text.ts";
import { MacKey } from "./signature.ts";
import { words } from "./signed-fields.ts";
import { isForOneBlob } from "./signed-resource.ts";
import { accessByRoles, signerClaims } from "./token-access.ts";
import {
  type Identity,
  makeUserDelegationKey,
  type UserDelegationKey,
} from "./user-delegation-key.ts";

/**
 * Verifies a SAS signed with a user delegation key: valid as long as both are. `bearer` is the
 * subject of the bearer token sent with it.
 */
export function verifyUserDelegationSas(
  request: RestRequest,
  address: KnownAddress,
  resource: Resource,
  bearer: Identity | null,
): SasGrant {
  const { query } = request;
  const version = sasVersion(query);
  const signed = signedFields("userDelegationSas", resource.service, version);
  const letters = requireSasField(query, "sp");
  requireSasField(query, "se");
  requireSupportedFields(query, signed);
  const validity = validityOf(query);
  const key = signingKey(query, address, resource.service);

  const { accountName } = address;
  const header = (name: string) => request.headers.get(name);
  const text = sasText(signed, { fields: query, resource, accountName, version, header });
  requireSignature(query, text, [new MacKey(key.value)]);
  requireWithinValidity(key, request.judgedMs);
  requireTermsMet(request, validity);
  requireBoundUser(query, bearer);

  const claims = signerClaims(key);
  const signer = accessByRoles(address.account, claims, resource);
  const user = userOf(query, claims);
  return {
    access: {
      kind: "service-sas",
      letters,
      policy: null,
      ...(isForOneBlob(query) ? { isForOne: true } : {}),
      ...(signer === null ? {} : { signer }),
      ...(resource.service === "blob" || resource.service === "dfs" ? { user } : {}),
    },
    overrides: signed.includes("rscc") ? overridesOf(query) : [],
    keyRange: null,
    encryptionScope: (signed.includes("ses") && sasField(query, "ses")) || null,
  };
}

/** Refuses restrictions that are not enforced here, as ignoring them would grant too much. */
function requireSupportedFields(query: Query, signed: readonly string[]): void {
  if (sasField(query, "si") !== "") {
    throw authenticationFailed("A user delegation SAS cannot use a stored access policy (si).");
  }
  if (sasField(query, "saoid") !== "" && sasField(query, "suoid") !== "") {
    throw authenticationFailed("A token names one user: give saoid or suoid, not both.");
  }
  for (const name of words(`${AGENTS} ${DELEGATE}`)) {
    if (sasField(query, name) !== "" && !signed.includes(name)) {
      throw authenticationFailed(`${name} is not signed in this version (sv): use a newer one.`);
    }
  }
}

/**
 * The user who acts: the signer, or the one whom it names. With `saoid` the signer says that this
 * user may do what the token permits; with `suoid` ACLs must grant it. Groups are not known.
 */
function userOf(query: Query, signer: CallerClaims): SasUser {
  const [checked, authorized] = [sasField(query, "suoid"), sasField(query, "saoid")];
  if (checked !== "") return { claims: { oid: [checked] }, kind: "checked" };
  if (authorized !== "") return { claims: { oid: [authorized] }, kind: "authorized" };
  return { claims: signer, kind: "signer" };
}

/** A token bound to a user is valid only with that user's bearer token. */
function requireBoundUser(query: Query, bearer: Identity | null): void {
  const user = sasField(query, "sduoid");
  const tenant = sasField(query, "skdutid");
  if (user === "") {
    if (tenant === "") return;
    throw authenticationFailed("skdutid is the tenant of a user: say which user with sduoid.");
  }
  if (bearer === null) {
    throw authenticationFailed(
      "This token is bound to a user (sduoid): send that user's bearer token with it.",
    );
  }
  if (bearer.objectId !== user || bearer.tenantId !== (tenant || sasField(query, "sktid"))) {
    throw authenticationFailed(
      "This token is bound to another user (sduoid, and skdutid or sktid) than the bearer token.",
    );
  }
}

/** Derives the key from the terms that the token repeats. */
function signingKey(query: Query, address: KnownAddress, service: ServiceName): UserDelegationKey {
  const identity = {
    objectId: requireSasField(query, "skoid"),
    tenantId: requireSasField(query, "sktid"),
  };
  requireSasField(query, "skt");
  requireSasField(query, "ske");
  const startMs = sasTime(query, "skt") ?? 0;
  const expiryMs = sasTime(query, "ske") ?? 0;
  const keyService = requireSasField(query, "sks");
  const keyVersion = requireSasField(query, "skv");
  if (keyService !== SERVICE_LETTERS[service]) {
    throw authenticationFailed(`The key (sks=${keyService}) is for another service than this one.`);
  }
  const { delegationSecret } = address.account;
  return makeUserDelegationKey(
    delegationSecret,
    identity,
    startMs,
    expiryMs,
    keyService,
    keyVersion,
    sasField(query, "skdutid"),
  );
}
