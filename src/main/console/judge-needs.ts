import { Fault } from "../../base/fault.ts";
import type {
  AclJudged,
  CredentialsJudged,
  NeedJudged,
} from "../../front/console/console-facts.ts";
import type { RestServiceName, SentRequest } from "../../front/outcome.ts";
import { refusalWords } from "../../front/rest/explain-credentials.ts";
import type { GatedCall } from "../../front/rest/http/exchange.ts";
import type { Access, Need } from "../../rules/access.ts";
import { BLOB_NEEDS } from "../../rules/blob-needs.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { EXECUTE, ITEM_RIGHTS, rightsOf, WRITE } from "../../rules/posix-acl.ts";
import { formatAcl, formatRights } from "../../rules/posix-acl-text.ts";
import { QUEUE_NEEDS } from "../../rules/queue-needs.ts";
import { TABLE_NEEDS } from "../../rules/table-needs.ts";
import { admitToContainer } from "../../service/blob/admit.ts";
import { type AclRefusal, findAclRefusal } from "../../service/blob/find-acl-refusal.ts";
import { findPlace } from "../../service/blob/find-path.ts";
import { admitToShare } from "../../service/file/admit.ts";
import { admitToQueue } from "../../service/queue/admit.ts";
import { admitToTable } from "../../service/table/admit.ts";
import type { Store, View } from "../../store/store.ts";

type Needs = Readonly<Record<string, Need>>;

/** Operations of Data Lake that have another name than the need of the Blob service. */
const DATALAKE_NEEDS: Needs = {
  ...BLOB_NEEDS,
  listFilesystems: BLOB_NEEDS.listContainers,
  createFilesystem: BLOB_NEEDS.createContainer,
  getFilesystemProperties: BLOB_NEEDS.getContainerProperties,
  setFilesystemProperties: BLOB_NEEDS.setContainerMetadata,
  deleteFilesystem: BLOB_NEEDS.deleteContainer,
  readPath: BLOB_NEEDS.getBlob,
  getPathProperties: BLOB_NEEDS.getBlobProperties,
  setPathProperties: BLOB_NEEDS.setBlobProperties,
  leasePath: BLOB_NEEDS.leaseBlob,
  breakPathLease: BLOB_NEEDS.breakBlobLease,
  checkAccess: BLOB_NEEDS.getPathStatus,
  renamePath: BLOB_NEEDS.createPath,
};

const NEEDS: Readonly<Record<RestServiceName, Needs>> = {
  blob: BLOB_NEEDS,
  dfs: DATALAKE_NEEDS,
  queue: QUEUE_NEEDS,
  table: TABLE_NEEDS,
  file: FILE_NEEDS,
};

/** What came of judging what an operation needs. */
type Verdict = Pick<CredentialsJudged, "refusal" | "need" | "acl">;

/**
 * Judges what an operation needs by what its credentials grant, in a transaction that only reads.
 * Null for operations that need nothing.
 */
export function judgeNeeds(
  service: RestServiceName,
  call: GatedCall,
  sent: SentRequest,
  store: Pick<Store, "read">,
): Promise<Verdict | null> {
  return store.read((view) => {
    let verdict: Verdict | null = null;
    for (const [part, need] of needsOf(service, call, sent)) {
      verdict = judgeNeed(view, service, part, need);
      if (verdict.refusal !== null) return verdict;
    }
    return verdict;
  });
}

/** What an operation needs, of which object, in the order in which the service judges it. */
function needsOf(
  service: RestServiceName,
  call: GatedCall,
  { target, headers }: SentRequest,
): [GatedCall, Need][] {
  const need = NEEDS[service][operationOf(call, target, headers)];
  if (need === undefined) return [];
  if (call.operation === "listBlobs") return [[{ ...call, object: listedIn(target) }, need]];
  if (service !== "dfs") return [[call, need]];
  if (call.operation === "renamePath") {
    const old = renamedIn(headerOf(headers, "x-ms-rename-source"), call.container);
    return [
      ...(old === null
        ? []
        : [[{ ...call, object: old }, BLOB_NEEDS.renamePath] as [GatedCall, Need]]),
      [call, need],
    ];
  }
  if (call.operation !== "checkAccess") return [[call, need]];
  const rights = /[?&]fsaction=([rwx-]{3})/i.exec(target)?.[1] ?? "";
  const asked = CHECKED_RIGHTS.filter(([letter]) => rights.includes(letter));
  return [[call, need], ...asked.map(([, one]): [GatedCall, Need] => [call, one])];
}

/** The directory of the prefix: its ACL decides in a container with directories. */
function listedIn(target: string): string {
  const prefix = new URL(target, "http://server").searchParams.get("prefix") ?? "";
  return prefix.slice(0, prefix.lastIndexOf("/") + 1);
}

const CHECKED_RIGHTS = [
  ["r", BLOB_NEEDS.checkReadAccess],
  ["w", BLOB_NEEDS.checkWriteAccess],
  ["x", BLOB_NEEDS.checkExecuteAccess],
] as const;

/** Some operations need something else by what their parameters say. */
function operationOf(
  { operation }: GatedCall,
  target: string,
  headers: SentRequest["headers"],
): string {
  const isBreak = headerOf(headers, "x-ms-lease-action")?.toLowerCase() === "break";
  if (operation.startsWith("lease") && isBreak) {
    return operation.replace("lease", "break").concat("Lease");
  }
  if (operation !== "deleteBlob") return operation;
  if (/[?&]deletetype=permanent/i.test(target)) return "deleteBlobPermanently";
  return /[?&]versionid=/i.test(target) ? "deleteBlobVersion" : operation;
}

function headerOf(headers: SentRequest["headers"], wanted: string): string | undefined {
  const at = headers.findIndex((name, place) => place % 2 === 0 && name.toLowerCase() === wanted);
  return at < 0 ? undefined : headers[at + 1];
}

/** The old path of a rename; null if it has credentials of its own, or is in another container. */
function renamedIn(source = "", container: string): string | null {
  const [, path = ""] = /^(?:https?:\/\/[^/?#]+)?\/?([^?#]*)$/i.exec(source) ?? [];
  const [first = "", ...rest] = path.split("/");
  try {
    return decodeURIComponent(first) === container ? decodeURIComponent(rest.join("/")) : null;
  } catch {
    return null;
  }
}

function judgeNeed(view: View, service: RestServiceName, call: GatedCall, need: Need): Verdict {
  const judged = needJudged(call.access, need);
  try {
    admit(view, service, call, need);
    return { refusal: null, need: judged, acl: null };
  } catch (error) {
    if (!(error instanceof Fault)) throw error;
    const refusal = refusalWords(error);
    // Whether something exists is no question of credentials.
    if (![401, 403].includes(refusal.status)) return { refusal: null, need: judged, acl: null };
    const found = service === "blob" || service === "dfs" ? aclRefusal(view, call, need) : null;
    return { refusal, need: judged, acl: found === null ? null : aclJudged(found) };
  }
}

function admit(view: View, service: RestServiceName, call: GatedCall, need: Need): void {
  const { account, container, object, access } = call;
  switch (service) {
    case "blob":
    case "dfs": {
      const asked = { at: { account, container, blob: object }, access };
      findPlace(view, admitToContainer(view, asked, need, true), asked, need);
      return;
    }
    case "queue":
      admitToQueue(view, { at: { account, queue: container }, access }, need);
      return;
    case "table":
      admitToTable(view, { at: { account, table: container }, access }, need);
      return;
    case "file":
      admitToShare(view, { at: { account, share: container, snapshot: null }, access }, need);
  }
}

function aclRefusal(view: View, call: GatedCall, need: Need): AclRefusal | null {
  const { account, container, object, access } = call;
  return findAclRefusal(view, { at: { account, container, blob: object }, access }, need);
}

function aclJudged({ path, control, caller, lacks }: AclRefusal): AclJudged {
  const granted = rightsOf(control, caller);
  const needed = RIGHTS_NEEDED[lacks];
  const isGranted = needed !== null && (granted & needed) === needed;
  return {
    path,
    owner: control.owner,
    group: control.group,
    acl: formatAcl(control),
    isSticky: control.isSticky,
    user: caller.id,
    groups: caller.groups,
    granted: formatRights(granted),
    needed: needed === null || isGranted ? null : formatRights(needed),
  };
}

const RIGHTS_NEEDED: Readonly<Record<AclRefusal["lacks"], number | null>> = {
  ...ITEM_RIGHTS,
  pass: EXECUTE,
  create: WRITE | EXECUTE,
  delete: WRITE | EXECUTE,
  own: null,
};

function needJudged(access: Access, need: Need): NeedJudged {
  const isAccount = access.kind === "account-sas";
  return {
    kind: access.kind,
    letters: isAccount ? need.account : need.service,
    isEvery: need.every === true,
    type: need.on,
    granted: access.kind === "account-sas" || access.kind === "service-sas" ? access.letters : null,
    grantedTypes: access.kind === "account-sas" ? access.types : null,
    policy: access.kind === "service-sas" ? (access.policy?.id ?? null) : null,
    actions: need.actions,
  };
}
