import type { RawAsked } from "../sdk/raw-request.ts";

/** A request for each documented operation, by its documented name. */
export interface DocumentedRequest extends RawAsked {
  /** The expected status, if it is not success. */
  readonly status?: number;
}

export type DocumentedRequests = Readonly<Record<string, DocumentedRequest>>;

const LEASE = "00000000-0000-0000-0000-00000000000a";
const OTHER_LEASE = "00000000-0000-0000-0000-00000000000b";
const ACQUIRE = {
  "x-ms-lease-action": "acquire",
  "x-ms-lease-duration": "-1",
  "x-ms-proposed-lease-id": LEASE,
};
const RENEW = { "x-ms-lease-action": "renew", "x-ms-lease-id": LEASE };
const RELEASE = { "x-ms-lease-action": "release", "x-ms-lease-id": OTHER_LEASE };
const CHANGE = {
  "x-ms-lease-action": "change",
  "x-ms-lease-id": LEASE,
  "x-ms-proposed-lease-id": OTHER_LEASE,
};
const BREAK = { "x-ms-lease-action": "break" };

const PROPERTIES = "<StorageServiceProperties></StorageServiceProperties>";
const POLICIES = "<SignedIdentifiers></SignedIdentifiers>";
const KEY_INFO = "<KeyInfo><Start>2026-01-01</Start><Expiry>2026-01-02</Expiry></KeyInfo>";
const MESSAGE = "<QueueMessage><MessageText>text</MessageText></QueueMessage>";

/** Placeholders in braces are replaced by the test. */
const FROM = { "x-ms-copy-source": "{source}" };

const PAGE = { "x-ms-range": "bytes=0-511" };
const SERVICE = "/?restype=service&comp=";

function get(path: string, headers: Record<string, string> = {}, status?: number) {
  return asked("GET", path, headers, undefined, status);
}

function put(path: string, headers: Record<string, string> = {}, body?: string, status?: number) {
  return asked("PUT", path, headers, body, status);
}

function post(path: string, headers: Record<string, string>, body: string, status?: number) {
  return asked("POST", path, headers, body, status);
}

function remove(path: string, headers: Record<string, string> = {}) {
  return asked("DELETE", path, headers);
}

function asked(
  method: string,
  path: string,
  headers: Record<string, string>,
  body?: string,
  status?: number,
): DocumentedRequest {
  const request = { method, path, headers };
  return {
    ...request,
    ...(body !== undefined && { body }),
    ...(status !== undefined && { status }),
  };
}

function type(name: string) {
  return { "x-ms-blob-type": name };
}

/** In this order: each request relies on the ones before it. */
export const BLOB_REQUESTS: DocumentedRequests = {
  Service_setProperties: put(`${SERVICE}properties`, {}, PROPERTIES),
  Service_getProperties: get(`${SERVICE}properties`),
  Service_getStatistics: get(`-secondary${SERVICE}stats`),
  Service_listContainersSegment: get("/?comp=list"),
  Service_getUserDelegationKey: post(`${SERVICE}userdelegationkey`, {}, KEY_INFO, 403),
  Service_getAccountInfo: get("/?restype=account&comp=properties"),
  Service_submitBatch: post("/?comp=batch", {}, "none", 400),
  Service_filterBlobs: get("/?comp=blobs&where=a%3D'b'"),

  Container_create: put("/box?restype=container"),
  Container_getProperties: get("/box?restype=container"),
  Container_setMetadata: put("/box?restype=container&comp=metadata"),
  Container_getAccessPolicy: get("/box?restype=container&comp=acl"),
  Container_setAccessPolicy: put("/box?restype=container&comp=acl", {}, POLICIES),
  Container_restore: put(
    "/gone?restype=container&comp=undelete",
    { "x-ms-deleted-container-name": "gone", "x-ms-deleted-container-version": "01" },
    undefined,
    404,
  ),
  Container_rename: put("/box?restype=container&comp=rename", {}, undefined, 501),
  Container_submitBatch: post("/box?restype=container&comp=batch", {}, "none", 400),
  Container_filterBlobs: get("/box?restype=container&comp=blobs&where=a%3D'b'"),
  Container_listBlobFlatSegment: get("/box?restype=container&comp=list"),
  Container_listBlobHierarchySegment: get("/box?restype=container&comp=list&delimiter=/"),
  Container_getAccountInfo: get("/box?restype=account&comp=properties"),
  Container_acquireLease: put("/box?restype=container&comp=lease", ACQUIRE),
  Container_renewLease: put("/box?restype=container&comp=lease", RENEW),
  Container_changeLease: put("/box?restype=container&comp=lease", CHANGE),
  Container_releaseLease: put("/box?restype=container&comp=lease", RELEASE),
  Container_breakLease: put("/box?restype=container&comp=lease", BREAK, undefined, 409),

  BlockBlob_upload: put("/box/there", type("BlockBlob"), "x".repeat(512)),
  BlockBlob_stageBlock: put("/box/blocks?comp=block&blockid=AAAA", {}, "text"),
  BlockBlob_stageBlockFromURL: put("/box/blocks?comp=block&blockid=AAAB", FROM),
  BlockBlob_commitBlockList: put("/box/blocks?comp=blocklist", {}, "<BlockList></BlockList>"),
  BlockBlob_getBlockList: get("/box/blocks?comp=blocklist"),
  BlockBlob_putBlobFromUrl: put("/box/copy", { ...FROM, ...type("BlockBlob") }),

  PageBlob_create: put("/box/pages", { ...type("PageBlob"), "x-ms-blob-content-length": "512" }),
  PageBlob_uploadPages: put(
    "/box/pages?comp=page",
    { ...PAGE, "x-ms-page-write": "update" },
    "x".repeat(512),
  ),
  PageBlob_uploadPagesFromURL: put("/box/pages?comp=page", {
    ...{ ...PAGE, ...FROM },
    "x-ms-page-write": "update",
    "x-ms-source-range": "bytes=0-511",
  }),
  PageBlob_clearPages: put("/box/pages?comp=page", { ...PAGE, "x-ms-page-write": "clear" }),
  PageBlob_getPageRanges: get("/box/pages?comp=pagelist"),
  Blob_createSnapshot: put("/box/pages?comp=snapshot"),
  PageBlob_getPageRangesDiff: get("/box/pages?comp=pagelist&prevsnapshot={snapshot}"),
  PageBlob_resize: put("/box/pages?comp=properties", { "x-ms-blob-content-length": "1024" }),
  PageBlob_updateSequenceNumber: put("/box/pages?comp=properties", {
    "x-ms-sequence-number-action": "increment",
  }),
  PageBlob_copyIncremental: put("/box/grown?comp=incrementalcopy", {
    "x-ms-copy-source": "{pages}?snapshot={snapshot}",
  }),

  AppendBlob_create: put("/box/log", type("AppendBlob")),
  AppendBlob_appendBlock: put("/box/log?comp=appendblock", {}, "text"),
  AppendBlob_appendBlockFromUrl: put("/box/log?comp=appendblock", FROM),
  AppendBlob_seal: put("/box/log?comp=seal"),

  Blob_download: get("/box/there"),
  Blob_getProperties: asked("HEAD", "/box/there", {}),
  Blob_setHttpHeaders: put("/box/there?comp=properties"),
  Blob_setMetadata: put("/box/there?comp=metadata"),
  Blob_getAccountInfo: get("/box/there?restype=account&comp=properties"),
  Blob_getTags: get("/box/there?comp=tags"),
  Blob_setTags: put("/box/there?comp=tags", {}, "<Tags><TagSet></TagSet></Tags>"),
  Blob_setTier: put("/box/there?comp=tier", { "x-ms-access-tier": "Hot" }),
  Blob_acquireLease: put("/box/there?comp=lease", ACQUIRE),
  Blob_renewLease: put("/box/there?comp=lease", RENEW),
  Blob_changeLease: put("/box/there?comp=lease", CHANGE),
  Blob_releaseLease: put("/box/there?comp=lease", RELEASE),
  Blob_breakLease: put("/box/there?comp=lease", BREAK, undefined, 409),
  Blob_startCopyFromURL: put("/box/copy", FROM),
  Blob_copyFromURL: put("/box/copy", { ...FROM, "x-ms-requires-sync": "true" }),
  Blob_abortCopyFromURL: put(
    `/box/copy?comp=copy&copyid=${LEASE}`,
    { "x-ms-copy-action": "abort" },
    undefined,
    409,
  ),
  Blob_delete: remove("/box/copy"),
  Blob_undelete: put("/box/there?comp=undelete"),
  Blob_query: post("/box/there?comp=query", {}, "<QueryRequest/>", 501),
  // Only files in containers with directories expire.
  Blob_setExpiry: put(
    "/box/there?comp=expiry",
    { "x-ms-expiry-option": "RelativeToNow", "x-ms-expiry-time": "1000" },
    undefined,
    400,
  ),
  Blob_setImmutabilityPolicy: put("/box/there?comp=immutabilityPolicies", {}, undefined, 501),
  Blob_deleteImmutabilityPolicy: {
    ...remove("/box/there?comp=immutabilityPolicies"),
    status: 501,
  },
  Blob_setLegalHold: put("/box/there?comp=legalhold", {}, undefined, 501),
  Container_delete: remove("/box?restype=container"),
};

const FILE = { "x-ms-type": "file", "x-ms-content-length": "512" };
const WRITE = { ...PAGE, "x-ms-write": "update" };
const ALL_HANDLES = { "x-ms-handle-id": "*" };

export const FILE_REQUESTS: DocumentedRequests = {
  Service_setProperties: put(`${SERVICE}properties`, {}, PROPERTIES),
  Service_getProperties: get(`${SERVICE}properties`),
  Service_listSharesSegment: get("/?comp=list"),
  Service_getUserDelegationKey: post(`${SERVICE}userdelegationkey`, {}, KEY_INFO, 403),

  Share_create: put("/box?restype=share"),
  Share_getProperties: get("/box?restype=share"),
  Share_setProperties: put("/box?restype=share&comp=properties"),
  Share_setMetadata: put("/box?restype=share&comp=metadata"),
  Share_getAccessPolicy: get("/box?restype=share&comp=acl"),
  Share_setAccessPolicy: put("/box?restype=share&comp=acl", {}, POLICIES),
  Share_getStatistics: get("/box?restype=share&comp=stats"),
  Share_createSnapshot: put("/box?restype=share&comp=snapshot"),
  Share_createPermission: put(
    "/box?restype=share&comp=filepermission",
    {},
    '{"permission":"O:SYG:SYD:(A;;FA;;;SY)"}',
  ),
  Share_getPermission: get("/box?restype=share&comp=filepermission", {
    "x-ms-file-permission-key": "{permission}",
  }),
  Share_restore: put(
    "/gone?restype=share&comp=undelete",
    { "x-ms-deleted-share-name": "gone", "x-ms-deleted-share-version": "01" },
    undefined,
    404,
  ),
  Share_acquireLease: put("/box?restype=share&comp=lease", ACQUIRE),
  Share_renewLease: put("/box?restype=share&comp=lease", RENEW),
  Share_changeLease: put("/box?restype=share&comp=lease", CHANGE),
  Share_releaseLease: put("/box?restype=share&comp=lease", RELEASE),
  Share_breakLease: put("/box?restype=share&comp=lease", BREAK, undefined, 409),

  Directory_create: put("/box/folder?restype=directory"),
  Directory_getProperties: get("/box/folder?restype=directory"),
  Directory_setProperties: put("/box/folder?restype=directory&comp=properties"),
  Directory_setMetadata: put("/box/folder?restype=directory&comp=metadata"),
  Directory_listFilesAndDirectoriesSegment: get("/box/folder?restype=directory&comp=list"),
  Directory_listHandles: get("/box/folder?restype=directory&comp=listhandles"),
  Directory_forceCloseHandles: put(
    "/box/folder?restype=directory&comp=forceclosehandles",
    ALL_HANDLES,
  ),
  Directory_rename: put("/box/renamed?restype=directory&comp=rename", {
    "x-ms-file-rename-source": "{folder}",
  }),
  Directory_delete: remove("/box/renamed?restype=directory"),

  File_create: put("/box/there", FILE),
  File_getProperties: asked("HEAD", "/box/there", {}),
  File_download: get("/box/there"),
  File_setHttpHeaders: put("/box/there?comp=properties"),
  File_setMetadata: put("/box/there?comp=metadata"),
  File_uploadRange: put("/box/there?comp=range", WRITE, "x".repeat(512)),
  File_uploadRangeFromURL: put("/box/there?comp=range", {
    ...{ ...WRITE, ...FROM },
    "x-ms-source-range": "bytes=0-511",
  }),
  File_getRangeList: get("/box/there?comp=rangelist"),
  File_listHandles: get("/box/there?comp=listhandles"),
  File_forceCloseHandles: put("/box/there?comp=forceclosehandles", ALL_HANDLES),
  File_acquireLease: put("/box/there?comp=lease", ACQUIRE),
  File_changeLease: put("/box/there?comp=lease", CHANGE),
  File_releaseLease: put("/box/there?comp=lease", RELEASE),
  File_breakLease: put("/box/there?comp=lease", BREAK, undefined, 409),
  File_startCopy: put("/box/copy", FROM),
  File_abortCopy: put(
    `/box/copy?comp=copy&copyid=${LEASE}`,
    { "x-ms-copy-action": "abort" },
    undefined,
    409,
  ),
  File_rename: put("/box/renamed?comp=rename", { "x-ms-file-rename-source": "{source}" }),
  File_createSymbolicLink: put("/box/link?restype=symboliclink", {}, undefined, 400),
  File_getSymbolicLink: get("/box/link?restype=symboliclink", {}, 400),
  File_createHardLink: put("/box/link?restype=hardlink", {}, undefined, 400),
  File_delete: remove("/box/renamed"),
  Share_delete: remove("/box?restype=share", { "x-ms-delete-snapshots": "include" }),
};

export const QUEUE_REQUESTS: DocumentedRequests = {
  Service_setProperties: put(`${SERVICE}properties`, {}, PROPERTIES),
  Service_getProperties: get(`${SERVICE}properties`),
  Service_getStatistics: get(`-secondary${SERVICE}stats`),
  Service_getUserDelegationKey: post(`${SERVICE}userdelegationkey`, {}, KEY_INFO, 403),
  Service_listQueuesSegment: get("/?comp=list"),
  Queue_create: put("/line"),
  Queue_getProperties: get("/line?comp=metadata"),
  Queue_setMetadata: put("/line?comp=metadata"),
  Queue_getAccessPolicy: get("/line?comp=acl"),
  Queue_setAccessPolicy: put("/line?comp=acl", {}, POLICIES),
  Messages_enqueue: post("/line/messages", {}, MESSAGE),
  Messages_peek: get("/line/messages?peekonly=true"),
  Messages_dequeue: get("/line/messages"),
  MessageId_update: put(`/line/messages/${LEASE}?popreceipt=AA==&visibilitytimeout=1`, {}, "", 404),
  MessageId_delete: { ...remove(`/line/messages/${LEASE}?popreceipt=AA==`), status: 404 },
  Messages_clear: remove("/line/messages"),
  Queue_delete: remove("/line"),
};

const ENTITY = '{"PartitionKey":"p","RowKey":"r"}';
const AT_ENTITY = "/rows(PartitionKey='p',RowKey='r')";
const ANY = { "if-match": "*" };

export const TABLE_REQUESTS: DocumentedRequests = {
  Service_setProperties: put(
    `${SERVICE}properties`,
    { "content-type": "application/xml" },
    PROPERTIES,
  ),
  Service_getProperties: get(`${SERVICE}properties`),
  Service_getStatistics: get(`-secondary${SERVICE}stats`),
  Table_create: post("/Tables", {}, '{"TableName":"rows"}'),
  Table_query: get("/Tables"),
  Table_getAccessPolicy: get("/rows?comp=acl"),
  Table_setAccessPolicy: put("/rows?comp=acl", { "content-type": "application/xml" }, POLICIES),
  Table_insertEntity: post("/rows", {}, ENTITY),
  Table_queryEntities: get("/rows()"),
  Table_queryEntitiesWithPartitionAndRowKey: get(AT_ENTITY),
  Table_updateEntity: put(AT_ENTITY, ANY, ENTITY),
  Table_mergeEntity: asked("PATCH", AT_ENTITY, ANY, ENTITY),
  Table_deleteEntity: remove(AT_ENTITY, ANY),
  Table_delete: remove("/Tables('rows')"),
};
