/** Limits of the service, as it documents them, and our own. Units last. */
export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;
export const TIB = 1024 * GIB;
export const DAY_MS = 24 * 3_600_000;

/** Of containers, queues and shares. */
export const DASHED_NAME_CHARS_MIN = 3;
export const DASHED_NAME_CHARS_MAX = 63;
export const BLOB_NAME_CHARS_MAX = 1_024;
export const BLOB_NAME_SEGMENTS_MAX = 254;
export const METADATA_BYTES_MAX = 8 * KIB;
export const TAGS_MAX = 10;
export const TAG_NAME_CHARS_MAX = 128;
export const TAG_VALUE_CHARS_MAX = 256;
/** Of parentheses in one condition or query. */
export const TAG_EXPRESSION_DEPTH_MAX = 100;
/** Of `x-ms-tags`. */
export const TAGS_HEADER_CHARS_MAX = 2 * KIB;
/** How long it takes until an archived blob can be read again. */
export const REHYDRATE_STANDARD_MS = 15 * 3_600_000;
export const REHYDRATE_HIGH_MS = 3_600_000;
/** How long a share is on its way from one tier to another. */
export const TIER_TRANSITION_MS = 60_000;
/** How long a share counts as being deleted. */
export const SHARE_DELETION_MS = 30_000;
export const STORED_POLICIES_MAX = 5;
export const POLICY_ID_CHARS_MAX = 64;

export const BLOCK_ID_BYTES_MAX = 64;
export const COMMITTED_BLOCKS_MAX = 50_000;
export const UNCOMMITTED_BLOCKS_MAX = 100_000;
export const UNCOMMITTED_BLOCKS_KEPT_MS = 7 * DAY_MS;
export const PAGE_BYTES = 512;
export const PAGE_BLOB_BYTES_MAX = 8 * TIB;
export const PUT_PAGE_BYTES_MAX = 4 * MIB;
export const PAGE_RANGES_MAX = 10_000;
/** Space within a file is given back, and its changes are listed, in units of this size. */
export const SECTOR_BYTES = 512;
export const FILE_RANGES_MAX = 10_000;
export const SEQUENCE_NUMBER_MAX = 2n ** 63n - 1n;
export const RANGE_DIGEST_BYTES_MAX = 4 * MIB;
/** Of what is copied while the client waits. */
export const COPY_FROM_URL_BYTES_MAX = 256 * MIB;
export const LIST_RESULTS_MAX = 5_000;
/**
 * Ours: a list ends with the page that brings it to this size, and goes on behind its marker. Answers
 * are whole in memory until they are sent.
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
/** Of PartitionKey and of RowKey. */
export const ENTITY_KEY_CHARS_MAX = 1_024;
/** Without PartitionKey, RowKey and Timestamp. */
export const ENTITY_PROPERTIES_MAX = 252;
export const PROPERTY_NAME_CHARS_MAX = 255;
/** Of a text in UTF-16, or of a binary value. */
export const PROPERTY_BYTES_MAX = 64 * KIB;
export const ENTITY_BYTES_MAX = 1 * MIB;
export const TABLE_RESULTS_MAX = 1_000;
export const BATCH_OPERATIONS_MAX = 100;
export const BATCH_BYTES_MAX = 4 * MIB;
export const BLOB_BATCH_OPERATIONS_MAX = 256;
export const FILTER_DEPTH_MAX = 32;
export const FILTER_COMPARISONS_MAX = 250;

/** In UTF-16 units, as all lengths of file names. */
export const FILE_NAME_CHARS_MAX = 255;
export const FILE_PATH_CHARS_MAX = 2_048;
export const FILE_PATH_LEVELS_MAX = 250;
export const SHARE_QUOTA_GIB_MAX = 102_400;
/** What a share has that is created without one. */
export const SHARE_QUOTA_GIB_DEFAULT = 5_120;
export const SHARE_SNAPSHOTS_MAX = 200;
export const FILE_BYTES_MAX = 4 * TIB;
export const PUT_RANGE_BYTES_MAX = 4 * MIB;
/** Of one file or directory, and of the root. */
export const HANDLES_OF_ITEM_MAX = 2_000;
export const HANDLES_OF_ROOT_MAX = 10_000;
export const FILE_LOCKS_MAX = 4_096;
