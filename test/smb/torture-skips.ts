const STREAMS = "needs alternate data streams, which Azure Files does not have";
const ATTRIBUTES = "needs extended attributes, which Azure Files does not have";
const OWNER =
  "an account's key opens everything: permissions are kept, and not enforced against it";
const ALLOCATION = "space is not set aside for what is not written yet";
const ANONYMOUS = "logs on again as nobody, whom this server does not know";
const CHANGE_TIME = "the time of the last change is not frozen for later operations of an open";
const SECOND_WRITE = "it does not see the time that a second write gets at the close";

/** Tests of `torture-list.ts` that do not pass, and why; a suite's name stands for all of it. */
export const TORTURE_SKIPS: Readonly<Record<string, string>> = {
  "compound.compound-padding": STREAMS,
  "compound.related4": OWNER,
  "compound.related7": OWNER,
  "create.nulldacl": OWNER,
  "delete-on-close-perms.CREATE_IF Existing": OWNER,
  "delete-on-close-perms.OVERWRITE_IF Existing": OWNER,
  "durable-open.alloc-size": ALLOCATION,
  "getinfo.getinfo_access": ATTRIBUTES,
  "getinfo.normalized": STREAMS,
  "getinfo.qfile_buffercheck": ATTRIBUTES,
  "lease.request": STREAMS,
  "oplock.batch26": STREAMS,
  "session.reauth2": ANONYMOUS,
  "session.reauth3": ANONYMOUS,
  "session.reauth4": ANONYMOUS,
  "timestamps.delayed-2write": SECOND_WRITE,
  "timestamps.freeze-thaw": CHANGE_TIME,
};

/** Tests that do not pass either where records are fetched from elsewhere. */
export const SKIPS_ON_FETCHING_ENGINES: Readonly<Record<string, string>> = {
  "lease.rename_wait": "needs its break at once: here a break takes several rounds of the engine",
};
