import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { fileURLToPath } from "node:url";

/** This file runs from `dist`. */
const ROOT = fileURLToPath(new URL("../../../", import.meta.url));

/** Codes of Azure's catalogue that this server never sends, with the reason. */
const NEVER: Readonly<Record<string, string>> = {
  AccountAlreadyExists: "accounts come from the configuration",
  AccountBeingCreated: "accounts come from the configuration",
  AccountIsDisabled: "accounts come from the configuration",
  AccountProtectedFromDeletion: "accounts come from the configuration",
  BlobImmutableDueToLegalHold: "legal holds are refused",
  BlobImmutableDueToPolicy: "immutability is refused",
  BlobNotArchived: "an unnecessary priority is accepted",
  BlobTierInadequateForContentLength: "there are no premium accounts",
  CannotChangeToLowerTier: "there are no premium accounts",
  ConditionHeadersNotSupported: "operations without conditions ignore them",
  ContainerBeingDeleted: "the name of a deleted container is free at once",
  ContainerDisabled: "there is no administrative way to disable it",
  ContainerHasLegalHold: "legal holds are refused",
  ContainerImmutabilityPolicyLocked: "immutability is refused",
  ContainerQuotaDowngradeNotAllowed: "a quota can be lowered at any time",
  ContentLengthLargerThanTierLimit: "there are no premium accounts",
  DirectorySasNotSupportedVersion:
    "an sr that the version of the token does not know is AuthenticationFailed",
  EntityNotFound: "the service itself says ResourceNotFound",
  InvalidOperation: "the parameter that names the snapshot is refused instead",
  JsonFormatNotSupported: "JSON is supported in every version",
  LeaseAlreadyBroken: "since 2012 a lease can be broken again",
  MessageTooLarge: "the service itself says RequestBodyTooLarge",
  PublicAccessNotPermitted: "no account forbids what its containers permit",
  QueueBeingDeleted: "the name of a deleted queue is free at once",
  QueueDisabled: "there is no administrative way to disable it",
  QueueNotEmpty: "a queue is deleted with its messages",
  RequestForbiddenByContainerEncryptionPolicy: "encryption scopes are refused",
  RequestUrlFailedToParse: "a URL that cannot be read is InvalidUri",
  ShareBeingDeleted: "the name of a deleted share is free at once",
  ShareDisabled: "there is no administrative way to disable it",
  ShareSnapshotInProgress: "a snapshot is taken in one step",
  ShareSnapshotOperationNotSupported: "the parameter that names the snapshot is refused instead",
  SnapshotCountExceeded: "their number is not limited",
  SnapshotOperationRateExceeded: "their rate is not limited",
  SystemInUse: "the server stores no blobs of its own",
  TableBeingDeleted: "the name of a deleted table is free at once",
  TableNotEmpty: "a table is deleted with its entities",
};

/** The codes that Azure documents, and others that its clients know. */
const CATALOGUE: Readonly<Record<string, readonly string[]>> = JSON.parse(
  readFileSync(join(ROOT, "test/vectors/error-codes.json"), "utf8"),
);

/** Files that name codes without sending requests. */
const LISTS = /errors\.test\.ts$|error-codes\.json$/;
const IS_TEST = /\.test\.ts$|vectors.*\.json$/;
/** Client tests first, as they show what users see. */
const tests = [...filesIn("test"), ...filesIn("src")].filter(
  ({ path }) => IS_TEST.test(path) && !LISTS.test(path),
);
/** Leaves out the two tables that name every code. */
const program = filesIn("src").filter(({ path }) => !/\.test\.ts$|fault(-status)?\.ts$/.test(path));

test("every error that the server can send is sent in some test", (t) => {
  const untested: string[] = [];
  for (const code of codesSent()) {
    if (!program.some(({ text }) => text.includes(`"${code}"`))) continue;
    const where = tests.find(({ text }) => new RegExp(`["' ]${code}["']`).test(text));
    if (where === undefined) untested.push(code);
    else t.diagnostic(`${code}: ${where.path}`);
  }
  assert.deepEqual(untested, []);
});

test("codes listed as never sent are not in the table of faults", () => {
  const sent = new Set(codesSent());
  assert.deepEqual(
    Object.keys(NEVER).filter((code) => sent.has(code)),
    [],
  );
});

test("every code of the catalogue is sent, or listed as never sent", () => {
  const known = new Set([...codesSent(), ...Object.keys(NEVER)]);
  const documented = Object.values(CATALOGUE).flat();
  assert.deepEqual(
    documented.filter((code) => !known.has(code)),
    [],
  );
});

test("codes listed as never sent are in the catalogue", () => {
  const documented = new Set(Object.values(CATALOGUE).flat());
  assert.deepEqual(
    Object.keys(NEVER).filter((code) => !documented.has(code)),
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

function filesIn(folder: string): Source[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: "utf8" })
    .filter((name) => /\.(ts|json)$/.test(name))
    .sort()
    .map((name) => ({
      path: join(folder, name),
      text: readFileSync(join(ROOT, folder, name), "utf8"),
    }));
}
