const STREAMS = "needs alternate data streams, which Azure Files does not have";
const ATTRIBUTES = "needs extended attributes, which Azure Files does not have";
const OWNER =
  "an account's key opens everything: permissions are kept, and not enforced against it";
const CACHING = "oplocks and leases are still to come";
const BATCH = "begins with a batch oplock: oplocks are still to come";
const CHANGE_TIME = "the time of the last change is not frozen for later operations of an open";
const SECOND_WRITE = "it does not see the time that a second write gets at the close";

/** Tests of `torture-list.ts` that do not pass, and why; a suite's name stands for all of it. */
export const TORTURE_SKIPS: Readonly<Record<string, string>> = {
  "compound.compound-break": CACHING,
  "compound.compound-padding": STREAMS,
  "compound.related4": OWNER,
  "compound.related7": OWNER,
  "create.nulldacl": OWNER,
  "delete-on-close-perms.CREATE_IF Existing": OWNER,
  "delete-on-close-perms.OVERWRITE_IF Existing": OWNER,
  "getinfo.getinfo_access": ATTRIBUTES,
  "getinfo.normalized": STREAMS,
  "getinfo.qfile_buffercheck": ATTRIBUTES,
  lease: CACHING,
  "lock.replay_smb3_specification_durable": CACHING,
  oplock: CACHING,
  "session.encryption-aes-128-ccm": BATCH,
  "session.encryption-aes-128-gcm": BATCH,
  "session.encryption-aes-256-ccm": BATCH,
  "session.encryption-aes-256-gcm": BATCH,
  "session.reauth1": BATCH,
  "session.reauth2": BATCH,
  "session.reauth3": BATCH,
  "session.reauth4": BATCH,
  "session.reauth6": BATCH,
  "session.reconnect1": BATCH,
  "session.reconnect2": BATCH,
  "session.signing-aes-128-cmac": BATCH,
  "session.signing-aes-128-gmac": BATCH,
  "session.signing-hmac-sha-256": BATCH,
  "timestamps.delayed-2write": SECOND_WRITE,
  "timestamps.freeze-thaw": CHANGE_TIME,
};
