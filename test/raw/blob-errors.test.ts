import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** This file runs from `dist`. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Codes that only other services send. */
const OF_OTHERS =
  /^(Atom|Cannot(Delete)|ClientCache|Commands|DeletePending|Directory|Duplicate(Prop)|Entity|File|InvalidDuplicateRow|InvalidFile|InvalidMarker|InvalidValueType|Json|Key|.*FileOperation|Media|Message|Method|Parent|PopReceipt|Propert|Queue(A|N|B)|ReadOnly|SMBDelete|Share|Sharing|Table|TooMany|Update|XMethod)/;

/** Codes of copies, which are not there yet. */
const OF_COPIES =
  /^(CannotVerifyCopySource|CopyIdMismatch|InfiniteLease|InvalidSourceBlobType|NoPending|PendingCopy|SourceCondition|TargetCondition)/;

/** What Azure's catalogue has for blobs and we never send, and why. */
const NEVER: Readonly<Record<string, string>> = {
  AccountBeingCreated: "accounts come from the configuration",
  AccountIsDisabled: "accounts come from the configuration",
  BlobImmutableDueToLegalHold: "legal holds are refused",
  BlobImmutableDueToPolicy: "immutability is refused",
  BlobNotArchived: "a priority that is not needed does no harm",
  BlobTierInadequateForContentLength: "there are no premium accounts",
  BlobUsesCustomerSpecifiedEncryption: "keys of customers are refused",
  CannotChangeToLowerTier: "there are no premium accounts",
  ContainerBeingDeleted: "the name of a deleted container is free at once",
  ContainerDisabled: "there is no administrator who could",
  ContainerHasLegalHold: "legal holds are refused",
  ContainerImmutabilityPolicyLocked: "immutability is refused",
  ContentLengthLargerThanTierLimit: "there are no premium accounts",
  LeaseAlreadyBroken: "since 2012 a lease can be broken again",
  SnapshotCountExceeded: "their number is not limited",
  SnapshotOperationRateExceeded: "their rate is not limited",
  SystemInUse: "the server keeps no blobs of its own",
};

const OWN_NAME = "blob-errors.test.ts";
const sources = sourcesIn(join(ROOT, "test")).concat(sourcesIn(join(ROOT, "src")));

test("every error that the Blob service can send is sent in some test", (t) => {
  const untested: string[] = [];
  for (const code of codesSent()) {
    if (OF_OTHERS.test(code) || OF_COPIES.test(code)) continue;
    const where = sources.find(({ text }) => new RegExp(`["' ]${code}["']`).test(text));
    if (where === undefined) untested.push(code);
    else t.diagnostic(`${code}: ${where.path}`);
  }
  assert.deepEqual(untested, []);
});

test("what is said never to be sent is not among the errors", () => {
  const sent = new Set(codesSent());
  assert.deepEqual(
    Object.keys(NEVER).filter((code) => sent.has(code)),
    [],
  );
});

function codesSent(): string[] {
  const reference = readFileSync(join(ROOT, "docs/reference/errors.md"), "utf8");
  const codes = [...reference.matchAll(/^\| ([A-Z]\w+) \| \d+ \|/gm)].map(([, code]) => code ?? "");
  return [...new Set(codes)];
}

interface Source {
  readonly path: string;
  readonly text: string;
}

/** Those that drive clients first: what they see is what users see. */
function sourcesIn(folder: string): Source[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" })
    .filter((name) => /\.test\.ts$|vectors.*\.json$/.test(name) && !name.endsWith(OWN_NAME))
    .sort()
    .map((name) => {
      const path = join(folder, name);
      return { path: path.slice(ROOT.length), text: readFileSync(path, "utf8") };
    });
}
