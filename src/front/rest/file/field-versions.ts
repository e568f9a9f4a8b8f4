import { type FieldsSince, FieldVersions } from "../field-versions.ts";
import { SERVICE_PROPERTY_FIELDS } from "../service-properties-xml.ts";
import type { FileOperationName } from "./route.ts";

/** See docs/reference/versions.md for the sources. */
export const FILE_FIELDS: readonly FieldsSince<FileOperationName>[] = [
  { since: "2013-08-15", of: ["getServiceProperties"], elements: SERVICE_PROPERTY_FIELDS },
  {
    since: "2020-02-10",
    of: ["getServiceProperties"],
    elements: ["StorageServiceProperties/ProtocolSettings"],
  },

  {
    since: "2019-12-12",
    of: ["getShareProperties"],
    headers: [
      "x-ms-access-tier",
      "x-ms-access-tier-change-time",
      "x-ms-access-tier-transition-state",
    ],
  },
  {
    since: "2020-02-10",
    of: ["getShareProperties"],
    headers: [
      "x-ms-lease-status",
      "x-ms-lease-state",
      "x-ms-lease-duration",
      "x-ms-enabled-protocols",
    ],
  },
  {
    since: "2019-12-12",
    of: ["listShares"],
    elements: [
      "Share/Properties/AccessTier",
      "Share/Properties/AccessTierChangeTime",
      "Share/Properties/AccessTierTransitionState",
    ],
  },
  {
    since: "2020-02-10",
    of: ["listShares"],
    elements: [
      "Share/Properties/LeaseStatus",
      "Share/Properties/LeaseState",
      "Share/Properties/LeaseDuration",
      "Share/Properties/EnabledProtocols",
    ],
  },

  { since: "2017-04-17", of: "all", headers: ["x-ms-request-server-encrypted"] },
  { since: "2019-02-02", of: "all", headers: ["x-ms-content-crc64"] },
  {
    since: "2019-02-02",
    of: "all",
    headers: [
      "x-ms-file-attributes",
      "x-ms-file-creation-time",
      "x-ms-file-last-write-time",
      "x-ms-file-change-time",
      "x-ms-file-permission-key",
      "x-ms-file-id",
      "x-ms-file-parent-id",
    ],
  },
  {
    since: "2021-06-08",
    of: ["putRange", "putRangeFromUrl"],
    headers: ["x-ms-file-last-write-time"],
  },
  {
    since: "2017-04-17",
    of: ["getFile", "getFileProperties", "getDirectoryProperties"],
    headers: ["x-ms-server-encrypted"],
  },
  { since: "2016-05-31", of: ["getFile"], headers: ["x-ms-content-md5"] },
  {
    since: "2019-02-02",
    of: ["getFile", "getFileProperties"],
    headers: ["x-ms-lease-status", "x-ms-lease-state", "x-ms-lease-duration"],
  },

  {
    since: "2020-06-12",
    of: ["listDirectoriesAndFiles"],
    elements: [
      "File/Properties/ChangeTime",
      "File/Properties/Last-Modified",
      "Directory/Properties/ChangeTime",
      "Directory/Properties/Last-Modified",
    ],
  },
  { since: "2020-10-02", of: ["listDirectoriesAndFiles"], elements: ["DirectoryId"] },
  { since: "2026-10-06", of: ["listRanges"], elements: ["NextMarker"] },
  { since: "2019-07-07", of: ["forceCloseHandles"], headers: ["x-ms-number-of-handles-failed"] },
  { since: "2023-01-03", of: ["listHandles"], elements: ["Handle/AccessRightList"] },
];

export const FILE_FIELD_VERSIONS = new FieldVersions(FILE_FIELDS);
