/** Documented limits of the service, and our own. Names end with the unit. */
export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;
export const TIB = 1024 * GIB;
export const DAY_MS = 24 * 3_600_000;

/** Names of containers, queues and shares. */
export const DASHED_NAME_CHARS_MIN = 3;
export const DASHED_NAME_CHARS_MAX = 63;
export const BLOB_NAME_CHARS_MAX = 1_024;
export const BLOB_NAME_SEGMENTS_MAX = 254;
/** The depth of a path in a container with directories of its own. */
export const PATH_LEVELS_MAX = 63;
export const METADATA_BYTES_MAX = 8 * KIB;
export const TAGS_MAX = 10;
export const TAG_NAME_CHARS_MAX = 128;
export const TAG_VALUE_CHARS_MAX = 256;
/** Nested parentheses in one condition or query. */
export const TAG_EXPRESSION_DEPTH_MAX = 100;
/** The length of `x-ms-tags`. */
export const TAGS_HEADER_CHARS_MAX = 2 * KIB;
/** How long it takes until an archived blob can be read again. */
export const REHYDRATE_STANDARD_MS = 15 * 3_600_000;
export const REHYDRATE_HIGH_MS = 3_600_000;
/** How long a share takes to change its tier. */
export const TIER_TRANSITION_MS = 60_000;
/** How long a share counts as being deleted. */
export const SHARE_DELETION_MS = 30_000;
export const STORED_POLICIES_MAX = 5;
export const POLICY_ID_CHARS_MAX = 64;

export const BLOCK_ID_BYTES_MAX = 64;
export const COMMITTED_BLOCKS_MAX = 50_000;
export const UNCOMMITTED_BLOCKS_MAX = 100_000;
export const UNCOMMITTED_BLOCKS_RETENTION_MS = 7 * DAY_MS;
export const PAGE_BYTES = 512;
export const PAGE_BLOB_BYTES_MAX = 8 * TIB;
export const PUT_PAGE_BYTES_MAX = 4 * MIB;
export const PAGE_RANGES_MAX = 10_000;
/** The unit in which space within a file is freed, and its changes are listed. */
export const SECTOR_BYTES = 512;
export const FILE_RANGES_MAX = 10_000;
export const SEQUENCE_NUMBER_MAX = 2n ** 63n - 1n;
export const RANGE_DIGEST_BYTES_MAX = 4 * MIB;
/** The largest source of a synchronous copy. */
export const COPY_FROM_URL_BYTES_MAX = 256 * MIB;
export const LIST_RESULTS_MAX = 5_000;
/**
 * Ours: a list that has reached this size ends, and continues at its marker, because a response
 * stays in memory until it is sent.
 */
export const LIST_BYTES_MAX = 8 * MIB;

export const LEASE_SECONDS_MIN = 15;
export const LEASE_SECONDS_MAX = 60;
export const LEASE_BREAK_SECONDS_MAX = 60;

export const MESSAGE_TEXT_BYTES_MAX = 64 * KIB;
export const MESSAGES_PER_CALL_MAX = 32;
export const VISIBILITY_SECONDS_MAX = 7 * 24 * 3_600;

export const DATE_SKEW_MS_MAX = 15 * 60_000;
export const USER_DELEGATION_KEY_MS_MAX = 7 * DAY_MS;
export const CORS_RULES_MAX = 5;
export const RETENTION_DAYS_MAX = 365;

export const TABLE_NAME_CHARS_MIN = 3;
export const TABLE_NAME_CHARS_MAX = 63;
/** PartitionKey and RowKey, each. */
export const ENTITY_KEY_CHARS_MAX = 1_024;
/** Does not count PartitionKey, RowKey and Timestamp. */
export const ENTITY_PROPERTIES_MAX = 252;
export const PROPERTY_NAME_CHARS_MAX = 255;
/** A text in UTF-16, or a binary value. */
export const PROPERTY_BYTES_MAX = 64 * KIB;
export const ENTITY_BYTES_MAX = 1 * MIB;
export const TABLE_RESULTS_MAX = 1_000;
export const BATCH_OPERATIONS_MAX = 100;
export const BATCH_BYTES_MAX = 4 * MIB;
/** What the entities that one batch merges properties into may take together. */
export const BATCH_MERGED_BYTES_MAX = 8 * MIB;
export const BLOB_BATCH_OPERATIONS_MAX = 256;
/** Ours: requests in the body of one, and the bytes of their answers. */
export const PIPELINE_REQUESTS_MAX = 256;
export const PIPELINE_BYTES_MAX = 4 * MIB;
export const FILTER_DEPTH_MAX = 32;
export const FILTER_COMPARISONS_MAX = 250;

/** Entries of an access ACL, and as many of a default ACL. */
export const ACL_ENTRIES_MAX = 32;
/** Paths whose ACLs one request changes. */
export const ACL_PATHS_MAX = 2_000;
/** The id of a user or group in an ACL. */
export const PRINCIPAL_ID_CHARS_MAX = 256;

/** Counts UTF-16 units, as all lengths of file names do. */
export const FILE_NAME_CHARS_MAX = 255;
export const FILE_PATH_CHARS_MAX = 2_048;
export const FILE_PATH_LEVELS_MAX = 250;
export const SHARE_QUOTA_GIB_MAX = 102_400;
/** The quota of a share that is created without one. */
export const SHARE_QUOTA_GIB_DEFAULT = 5_120;
export const SHARE_SNAPSHOTS_MAX = 200;
export const FILE_BYTES_MAX = 4 * TIB;
export const PUT_RANGE_BYTES_MAX = 4 * MIB;
/** Open handles of one file or directory, and of the root. */
export const HANDLES_OF_ITEM_MAX = 2_000;
export const HANDLES_OF_ROOT_MAX = 10_000;
export const FILE_LOCKS_MAX = 4_096;
