import type { Instant } from "../../base/clock.ts";
import { Fault, refuse } from "../../base/fault.ts";
import { KIB } from "../../base/limits.ts";
import { isoTime, parseIsoTime } from "../../base/time-text.ts";
import { requireDelegator } from "../../service/account/require-delegator.ts";
import {
  judgeUserDelegationKey,
  makeUserDelegationKey,
  type UserDelegationKey,
} from "./auth/user-delegation-key.ts";
import type { RestRequest, RestResponse } from "./http/exchange.ts";
import { XML_CONTENT } from "./response-headers.ts";
import type { StorageCall } from "./storage-rest-service.ts";
import type { XmlElement } from "./xml/parse-xml.ts";
import { element, XML_DECLARATION } from "./xml/write-xml.ts";
import { readXmlBody } from "./xml-body.ts";
import { invalidNode, requireOnlyChildren, requireRoot, requireText, textOf } from "./xml-nodes.ts";

const BODY_BYTES_MAX = 4 * KIB;

type KeyCall = Pick<StorageCall<unknown>, "access" | "delegation" | "request" | "version">;

/**
 * Get User Delegation Key, for the service with this letter. The key is not stored: it is derived
 * from its terms, so nothing below the front takes part.
 */
export async function answerUserDelegationKey(
  call: KeyCall,
  service: string,
): Promise<RestResponse> {
  const { delegation, request } = call;
  if (delegation === null) throw refusal(call);
  requireDelegator(call.access, request.judgedMs);
  const { startMs, expiryMs, delegatedTenantId } = await readTerms(request);
  const { identity, secret } = delegation;
  const key = makeUserDelegationKey(
    secret,
    identity,
    startMs,
    expiryMs,
    service,
    call.version,
    delegatedTenantId,
  );
  return { status: 200, headers: [...XML_CONTENT], body: keyXml(key) };
}

function refusal({ access }: KeyCall): Fault {
  if (access.kind === "anonymous") return new Fault("NoAuthenticationInformation");
  return new Fault("AuthenticationFailed", {
    AuthenticationErrorDetail: "Only authentication scheme Bearer is supported.",
  });
}

interface KeyTerms {
  readonly startMs: Instant;
  readonly expiryMs: Instant;
  readonly delegatedTenantId: string;
}

/** Since this version, a key can be made for the users of a tenant. */
const DELEGATES_SINCE = "2025-07-05";

async function readTerms(request: RestRequest): Promise<KeyTerms> {
  const root = requireRoot(await readXmlBody(request, BODY_BYTES_MAX), "KeyInfo");
  const delegates = request.version >= DELEGATES_SINCE;
  requireOnlyChildren(root, ["Start", "Expiry", ...(delegates ? [DELEGATED_TENANT] : [])]);
  const startMs = timeOf(root, "Start");
  const expiryMs = timeOf(root, "Expiry");
  refuse(judgeUserDelegationKey(startMs, expiryMs, request.judgedMs));
  return { startMs, expiryMs, delegatedTenantId: tenantOf(root) };
}

const DELEGATED_TENANT = "DelegatedUserTid";
const GUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;

/** Returns the delegated tenant; "" if none is named. */
function tenantOf(root: XmlElement): string {
  const text = textOf(root, DELEGATED_TENANT);
  if (text === null || text === "") return "";
  if (!GUID.test(text)) throw invalidNode(DELEGATED_TENANT, text);
  return text;
}

function timeOf(parent: XmlElement, name: string): Instant {
  const text = requireText(parent, name);
  const time = parseIsoTime(text);
  if (time === null) throw invalidNode(name, text);
  return time;
}

function keyXml(key: UserDelegationKey): string {
  const terms = [
    element("SignedOid", key.objectId),
    element("SignedTid", key.tenantId),
    element("SignedStart", isoTime(key.startMs)),
    element("SignedExpiry", isoTime(key.expiryMs)),
    element("SignedService", key.service),
    element("SignedVersion", key.version),
    ...(key.delegatedTenantId === ""
      ? []
      : [element("SignedDelegatedUserTid", key.delegatedTenantId)]),
    element("Value", key.value.toString("base64")),
  ];
  return `${XML_DECLARATION}<UserDelegationKey>${terms.join("")}</UserDelegationKey>`;
}
