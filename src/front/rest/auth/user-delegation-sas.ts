import type { SasUser } from "../../../rules/access.ts";
import type { CallerClaims } from "../../../rules/roles.ts";
import type { Query, RestRequest } from "../http/exchange.ts";
import type { KnownAddress } from "./address.ts";
import { type Resource, SERVICE_LETTERS, type ServiceName } from "./resource.ts";
import {
  overridesOf,
  requireSasField,
  requireSignature,
  requireTermsMet,
  requireWithinValidity,
  type SasGrant,
  sasField,
  sasTime,
  sasVersion,
  validityOf,
} from "./sas.ts";
import { authenticationFailed, MacKey } from "./signature.ts";
import { type Row, rowFor, words } from "./signed-fields.ts";
import { isForOneBlob, signedResource, signedTime } from "./signed-resource.ts";
import { accessByRoles, signerClaims } from "./token-access.ts";
import {
  type Identity,
  makeUserDelegationKey,
  type UserDelegationKey,
} from "./user-delegation-key.ts";

/** The fields of the string to sign, in order. Fields with `@` come from the request. */
const HEAD = "sp st se @resource skoid sktid skt ske sks skv";
const AGENTS = "saoid suoid scid";
const DELEGATE = "skdutid sduoid";
const USE = "sip spr sv";
const RESPONSE = "rscc rscd rsce rscl rsct";

const BLOB: readonly Row[] = [
  {
    from: "2026-04-06",
    fields: words(
      `${HEAD} ${AGENTS} ${DELEGATE} ${USE} sr @time ses @headers @parameters ${RESPONSE}`,
    ),
  },
  {
    from: "2025-07-05",
    fields: words(`${HEAD} ${AGENTS} ${DELEGATE} ${USE} sr @time ses ${RESPONSE}`),
  },
  { from: "2020-12-06", fields: words(`${HEAD} ${AGENTS} ${USE} sr @time ses ${RESPONSE}`) },
  { from: "2020-02-10", fields: words(`${HEAD} ${AGENTS} ${USE} sr @time ${RESPONSE}`) },
  { from: "2018-11-09", fields: words(`${HEAD} ${USE} sr @time ${RESPONSE}`) },
];

const ROWS: Readonly<Record<ServiceName, readonly Row[]>> = {
  blob: BLOB,
  dfs: BLOB,
  file: [{ from: "2025-07-05", fields: words(`${HEAD} ${DELEGATE} ${USE} ${RESPONSE}`) }],
  queue: [{ from: "2025-07-05", fields: words(`${HEAD} ${DELEGATE} ${USE}`) }],
  table: [],
};

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
  const row = rowFor(ROWS[resource.service], version);
  const letters = requireSasField(query, "sp");
  requireSasField(query, "se");
  requireSupportedFields(query, row);
  const validity = validityOf(query);
  const key = signingKey(query, address, resource.service);

  const signed = signedResource(query, resource, address.accountName, version);
  const lines = row.fields.map((field) => lineOf(field, request, signed));
  requireSignature(query, lines.join("\n"), [new MacKey(key.value)]);
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
    overrides: row.fields.includes("rscc") ? overridesOf(query) : [],
    keyRange: null,
    encryptionScope: (row.fields.includes("ses") && sasField(query, "ses")) || null,
  };
}

/** Refuses restrictions that are not enforced here, as ignoring them would grant too much. */
function requireSupportedFields(query: Query, { fields }: Row): void {
  if (sasField(query, "si") !== "") {
    throw authenticationFailed("A user delegation SAS cannot use a stored access policy (si).");
  }
  if (sasField(query, "saoid") !== "" && sasField(query, "suoid") !== "") {
    throw authenticationFailed("A token names one user: give saoid or suoid, not both.");
  }
  for (const name of words(`${AGENTS} ${DELEGATE}`)) {
    if (sasField(query, name) !== "" && !fields.includes(name)) {
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

function lineOf(field: string, request: RestRequest, signed: string): string {
  const { query, headers } = request;
  switch (field) {
    case "@resource":
      return signed;
    case "@time":
      return signedTime(query);
    case "@headers":
      return listed(query, "srh")
        .map((name) => `${name}:${headers.get(name.toLowerCase()) ?? ""}\n`)
        .join("");
    case "@parameters":
      return listed(query, "srq")
        .map((name) => `\n${name}:${query.get(name.toLowerCase()) ?? ""}`)
        .join("");
    default:
      return sasField(query, field);
  }
}

function listed(query: Query, name: string): string[] {
  const names = sasField(query, name);
  return names === "" ? [] : names.split(",");
}
