import { type FieldsSince, FieldVersions } from "../field-versions.ts";
import { SERVICE_PROPERTY_FIELDS } from "../service-properties-xml.ts";
import type { BlobOperationName } from "./route.ts";

/** Sources: docs/reference/versions.md. */
export const BLOB_FIELDS: readonly FieldsSince<BlobOperationName>[] = [
  { since: "2013-08-15", of: ["getServiceProperties"], elements: SERVICE_PROPERTY_FIELDS },
  {
    since: "2017-07-29",
    of: ["getServiceProperties"],
    elements: ["StorageServiceProperties/DeleteRetentionPolicy"],
  },
  {
    since: "2018-03-28",
    of: ["getServiceProperties"],
    elements: ["StorageServiceProperties/StaticWebsite"],
  },
  { since: "2019-07-07", of: ["getAccountInformation"], headers: ["x-ms-is-hns-enabled"] },

  {
    since: "2012-02-12",
    of: ["getContainerProperties"],
    headers: ["x-ms-lease-status", "x-ms-lease-state", "x-ms-lease-duration"],
  },
  { since: "2016-05-31", of: ["getContainerProperties"], headers: ["x-ms-blob-public-access"] },
  {
    since: "2017-11-09",
    of: ["getContainerProperties"],
    headers: ["x-ms-has-immutability-policy", "x-ms-has-legal-hold"],
  },
  {
    since: "2019-02-02",
    of: ["getContainerProperties"],
    headers: ["x-ms-default-encryption-scope", "x-ms-deny-encryption-scope-override"],
  },
  {
    since: "2020-10-02",
    of: ["getContainerProperties"],
    headers: ["x-ms-immutable-storage-with-versioning-enabled"],
  },

  {
    since: "2012-02-12",
    of: ["listContainers"],
    elements: [
      "Container/Properties/LeaseStatus",
      "Container/Properties/LeaseState",
      "Container/Properties/LeaseDuration",
    ],
  },
  { since: "2016-05-31", of: ["listContainers"], elements: ["Container/Properties/PublicAccess"] },
  {
    since: "2017-11-09",
    of: ["listContainers"],
    elements: ["Container/Properties/HasImmutabilityPolicy", "Container/Properties/HasLegalHold"],
  },
  {
    since: "2019-02-02",
    of: ["listContainers"],
    elements: [
      "Container/Properties/DefaultEncryptionScope",
      "Container/Properties/DenyEncryptionScopeOverride",
    ],
  },
  {
    since: "2020-10-02",
    of: ["listContainers"],
    elements: ["Container/Properties/ImmutableStorageWithVersioningEnabled"],
  },

  { since: "2015-12-11", of: "all", headers: ["x-ms-request-server-encrypted"] },
  { since: "2019-02-02", of: "all", headers: ["x-ms-content-crc64", "x-ms-encryption-key-sha256"] },
  { since: "2019-12-12", of: "all", headers: ["x-ms-version-id"] },
  { since: "2017-07-29", of: ["deleteBlob"], headers: ["x-ms-delete-type-permanent"] },

  {
    since: "2012-02-12",
    of: ["getBlob", "getBlobProperties"],
    headers: [
      "x-ms-lease-state",
      "x-ms-lease-duration",
      "x-ms-copy-id",
      "x-ms-copy-source",
      "x-ms-copy-status",
      "x-ms-copy-progress",
      "x-ms-copy-completion-time",
      "x-ms-copy-status-description",
    ],
  },
  { since: "2013-08-15", of: ["getBlob", "getBlobProperties"], headers: ["Content-Disposition"] },
  {
    since: "2015-12-11",
    of: ["getBlob", "getBlobProperties"],
    headers: ["x-ms-server-encrypted"],
  },
  { since: "2016-05-31", of: ["getBlob"], headers: ["x-ms-blob-content-md5"] },
  {
    since: "2016-05-31",
    of: ["getBlob", "getBlobProperties"],
    headers: ["x-ms-incremental-copy", "x-ms-copy-destination-snapshot"],
  },
  { since: "2017-11-09", of: ["getBlob", "getBlobProperties"], headers: ["x-ms-creation-time"] },
  {
    since: "2017-04-17",
    of: ["getBlobProperties"],
    headers: [
      "x-ms-access-tier",
      "x-ms-access-tier-inferred",
      "x-ms-access-tier-change-time",
      "x-ms-archive-status",
    ],
  },
  { since: "2019-12-12", of: ["getBlobProperties"], headers: ["x-ms-rehydrate-priority"] },
  {
    since: "2019-12-12",
    of: ["getBlob", "getBlobProperties"],
    headers: ["x-ms-is-current-version", "x-ms-tag-count", "x-ms-blob-sealed"],
  },
  {
    since: "2020-06-12",
    of: ["getBlob", "getBlobProperties"],
    headers: ["x-ms-resource-type", "x-ms-owner", "x-ms-group", "x-ms-permissions"],
  },
  { since: "2023-11-03", of: ["getBlob", "getBlobProperties"], headers: ["x-ms-acl"] },
  {
    since: "2026-10-06",
    of: ["getBlob"],
    headers: ["x-ms-access-tier", "x-ms-access-tier-inferred", "x-ms-access-tier-change-time"],
  },

  {
    since: "2012-02-12",
    of: ["listBlobs"],
    elements: [
      "Blob/Properties/LeaseState",
      "Blob/Properties/LeaseDuration",
      "Blob/Properties/CopyId",
      "Blob/Properties/CopySource",
      "Blob/Properties/CopyStatus",
      "Blob/Properties/CopyProgress",
      "Blob/Properties/CopyCompletionTime",
      "Blob/Properties/CopyStatusDescription",
    ],
  },
  { since: "2015-12-11", of: ["listBlobs"], elements: ["Blob/Properties/ServerEncrypted"] },
  {
    since: "2016-05-31",
    of: ["listBlobs"],
    elements: ["Blob/Properties/IncrementalCopy", "Blob/Properties/DestinationSnapshot"],
  },
  {
    since: "2017-04-17",
    of: ["listBlobs"],
    elements: [
      "Blob/Properties/AccessTier",
      "Blob/Properties/AccessTierInferred",
      "Blob/Properties/AccessTierChangeTime",
      "Blob/Properties/ArchiveStatus",
    ],
  },
  { since: "2017-11-09", of: ["listBlobs"], elements: ["Blob/Properties/Creation-Time"] },
  {
    since: "2019-02-02",
    of: ["listBlobs"],
    elements: ["Blob/Properties/Content-CRC64", "Blob/Properties/CustomerProvidedKeySha256"],
  },
  {
    since: "2019-12-12",
    of: ["listBlobs"],
    elements: [
      "Blob/VersionId",
      "Blob/IsCurrentVersion",
      "Blob/OrMetadata",
      "Blob/Properties/RehydratePriority",
      "Blob/Properties/Sealed",
      "Blob/Properties/TagCount",
    ],
  },
  {
    since: "2020-06-12",
    of: ["listBlobs"],
    elements: [
      "Blob/Properties/Owner",
      "Blob/Properties/Group",
      "Blob/Properties/Permissions",
      "Blob/Properties/Acl",
    ],
  },
  {
    since: "2020-10-02",
    of: ["listBlobs"],
    elements: ["Blob/Properties/ResourceType", "Blob/DeletionId"],
  },
  { since: "2021-06-08", of: ["listBlobs"], elements: ["BlobPrefix/Properties"] },
  { since: "2020-10-02", of: ["getPageRanges"], elements: ["NextMarker"] },
];

export const BLOB_FIELD_VERSIONS = new FieldVersions(BLOB_FIELDS);
