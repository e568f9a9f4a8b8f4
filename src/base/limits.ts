/** Limits of the service, as it documents them, and our own. Units last. */
export const KIB = 1024;
export const MIB = 1024 * KIB;
export const GIB = 1024 * MIB;
export const TIB = 1024 * GIB;

export const CONTAINER_NAME_CHARS_MIN = 3;
export const CONTAINER_NAME_CHARS_MAX = 63;
export const BLOB_NAME_CHARS_MAX = 1_024;
export const BLOB_NAME_SEGMENTS_MAX = 254;
export const METADATA_BYTES_MAX = 8 * KIB;
export const STORED_POLICIES_MAX = 5;
export const POLICY_ID_CHARS_MAX = 64;

export const BLOCK_ID_BYTES_MAX = 64;
export const COMMITTED_BLOCKS_MAX = 50_000;
export const UNCOMMITTED_BLOCKS_MAX = 100_000;
export const UNCOMMITTED_BLOCKS_KEPT_MS = 7 * 24 * 3_600_000;
export const RANGE_DIGEST_BYTES_MAX = 4 * MIB;
export const LIST_RESULTS_MAX = 5_000;

export const LEASE_SECONDS_MIN = 15;
export const LEASE_SECONDS_MAX = 60;
export const LEASE_BREAK_SECONDS_MAX = 60;

export const DATE_SKEW_MS_MAX = 15 * 60_000;
export const USER_DELEGATION_KEY_MS_MAX = 7 * 24 * 3_600_000;
export const CORS_RULES_MAX = 5;
