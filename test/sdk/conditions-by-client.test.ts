import assert from "node:assert/strict";
import { after, test } from "node:test";
import { isDeepStrictEqual } from "node:util";
import type { BlobClient, BlobLeaseClient, BlobRequestConditions } from "@azure/storage-blob";
import { newBlobFor } from "./blob-operations.ts";
import {
  beginPendingCopy,
  blobsIn,
  CLIENT_OPERATIONS,
  type ClientOperation,
  CONTAINER_OPERATIONS,
  clientThatAdds,
  etagIn,
  visibleStateOf,
} from "./client-operations.ts";
import { IDS } from "./lease-machine.ts";
import { refused } from "./refused.ts";
import { forThisFile, startServer } from "./server.ts";
import { TestSource } from "./test-source.ts";

const elsewhere = await TestSource.start();
const server = await forThisFile(startServer({ copyFrom: [elsewhere.origin] }));
after(() => elsewhere.close());

const HEADERS = {
  ifMatch: "if-match",
  ifNoneMatch: "if-none-match",
  ifModifiedSince: "if-modified-since",
  ifUnmodifiedSince: "if-unmodified-since",
} as const;
type Condition = keyof typeof HEADERS;
const ALL = Object.keys(HEADERS) as Condition[];
const DATES = ["ifModifiedSince", "ifUnmodifiedSince"] as const;

/** The ETag and time of a version, as blob and container clients return them. */
interface Version {
  readonly etag?: string;
  readonly lastModified?: Date;
}

/** Makes each of the four conditions for a version, met and unmet. */
function conditionsFor({ etag = "", lastModified = new Date(0) }: Version) {
  const other = '"0x8D0000000000000"';
  const earlier = new Date(lastModified.getTime() - 10_000);
  return {
    ifMatch: { met: { ifMatch: etag }, unmet: { ifMatch: other } },
    ifNoneMatch: { met: { ifNoneMatch: other }, unmet: { ifNoneMatch: etag } },
    ifModifiedSince: {
      met: { ifModifiedSince: earlier },
      unmet: { ifModifiedSince: lastModified },
    },
    ifUnmodifiedSince: {
      met: { ifUnmodifiedSince: lastModified },
      unmet: { ifUnmodifiedSince: earlier },
    },
  } satisfies Record<Condition, Record<"met" | "unmet", BlobRequestConditions>>;
}

function statusOfUnmet({ kind }: ClientOperation, condition: Condition): number {
  const isCached = condition === "ifNoneMatch" || condition === "ifModifiedSince";
  return kind === "reads" && isCached ? 304 : 412;
}

/** Whether an operation creates a new version of the blob. */
function updates({ kind }: ClientOperation): boolean {
  return kind === "creates" || kind === "updates" || kind === "copies";
}

for (const operation of CLIENT_OPERATIONS) {
  const { name, kind, on, ask, returnsEtag } = operation;

  test(`${name} returns ${returnsEtag ? "the" : "no"} ETag to its client, new if the blob is`, async () => {
    const blob = await newBlobFor(await server.makeContainer(), "blob", on);
    const { etag } = await blob.getProperties();
    const returned = etagIn(await ask(blob, {}));
    if (!returnsEtag) assert.equal(returned, undefined);
    else assert.equal(returned, (await blob.getProperties()).etag);
    if (kind === "deletes") return assert.equal(await blob.exists(), false);
    assert.equal((await blob.getProperties()).etag !== etag, updates(operation));
  });

  if (!operation.acceptsConditions) continue;
  for (const condition of ALL) {
    test(`${name} by a client succeeds if ${condition} holds, and changes nothing if it fails`, async () => {
      const container = await server.makeContainer();
      const blob = await newBlobFor(container, "blob", on);
      const { met, unmet } = conditionsFor(await blob.getProperties())[condition];
      const before = await blobsIn(container);
      const code = kind === "copies" ? "TargetConditionNotMet" : "ConditionNotMet";
      await refused(ask(blob, unmet), statusOfUnmet(operation, condition), code);
      assert.deepEqual(await blobsIn(container), before);
      await ask(blob, met);
      const isSame = isDeepStrictEqual(await blobsIn(container), before);
      assert.equal(isSame, kind === "reads");
    });
  }

  if (kind !== "creates" && kind !== "copies") continue;
  test(`${name} by a client with If-None-Match: * gets 409 and replaces nothing`, async () => {
    const container = await server.makeContainer();
    const blob = await newBlobFor(container, "blob", on);
    const before = await blobsIn(container);
    await refused(ask(blob, { ifNoneMatch: "*" }), 409, "BlobAlreadyExists");
    assert.deepEqual(await blobsIn(container), before);
  });
}

const COPIES: Readonly<
  Record<string, (to: BlobClient, from: string, source: BlobRequestConditions) => Promise<unknown>>
> = {
  "Copy Blob": async (to, from, sourceConditions) =>
    (await to.beginCopyFromURL(from, { sourceConditions })).pollUntilDone(),
  "Copy Blob From URL": (to, from, sourceConditions) =>
    to.syncCopyFromURL(from, { sourceConditions }),
};

for (const [name, copy] of Object.entries(COPIES)) {
  for (const condition of ALL) {
    test(`${name} by a client succeeds if ${condition} holds for the source, and fails otherwise`, async () => {
      const container = await server.makeContainer();
      const source = await newBlobFor(container, "source");
      const target = await newBlobFor(container, "target");
      const { met, unmet } = conditionsFor(await source.getProperties())[condition];
      const before = await blobsIn(container);
      await refused(copy(target, source.url, unmet), 412, "SourceConditionNotMet");
      assert.deepEqual(await blobsIn(container), before);
      await copy(target, source.url, met);
      assert.notDeepEqual(await blobsIn(container), before);
    });
  }
}

for (const { name, kind, ask, conditions } of CONTAINER_OPERATIONS) {
  test(`${name} returns ${kind === "deletes" ? "no" : "the"} ETag to its client, new if it updates`, async () => {
    const container = await server.makeContainer();
    const { etag } = await container.getProperties();
    const returned = etagIn(await ask(container, {}));
    if (kind === "deletes") return assert.equal(returned, undefined);
    assert.equal(returned, (await container.getProperties()).etag);
    assert.equal(returned !== etag, kind === "updates");
  });

  for (const condition of conditions) {
    test(`${name} by a client succeeds if ${condition} holds, and changes nothing if it fails`, async () => {
      const container = await server.makeContainer();
      const { met, unmet } = conditionsFor(await container.getProperties())[condition];
      const before = await visibleStateOf(container);
      await refused(ask(container, unmet), 412, "ConditionNotMet");
      assert.deepEqual(await visibleStateOf(container), before);
      await ask(container, met);
      if (kind === "deletes") assert.equal(await container.exists(), false);
      else assert.notDeepEqual(await visibleStateOf(container), before);
    });
  }
}

type Act = (lease: BlobLeaseClient, conditions: BlobRequestConditions) => Promise<Version>;

/** In an order in which each is possible. */
const LEASE_ACTIONS: readonly Act[] = [
  (lease, conditions) => lease.acquireLease(60, { conditions }),
  (lease, conditions) => lease.renewLease({ conditions }),
  (lease, conditions) => lease.changeLease(IDS.B as string, { conditions }),
  (lease, conditions) => lease.breakLease(10, { conditions }),
  (lease, conditions) => lease.releaseLease({ conditions }),
];

/** The SDK itself refuses to send ETags with a container lease. */
for (const [subject, conditions] of [
  ["blob", ALL],
  ["container", DATES],
] as const) {
  for (const condition of conditions) {
    test(`every lease action of a client on a ${subject} heeds ${condition} and preserves the ETag`, async () => {
      const container = await server.makeContainer();
      const leased = subject === "blob" ? await newBlobFor(container, "blob") : container;
      const { etag, lastModified } = await leased.getProperties();
      const { met, unmet } = conditionsFor(await leased.getProperties())[condition];
      const lease = leased.getBlobLeaseClient(IDS.A as string);
      for (const act of LEASE_ACTIONS) {
        const { leaseState } = await leased.getProperties();
        await refused(act(lease, unmet), 412, "ConditionNotMet");
        assert.equal((await leased.getProperties()).leaseState, leaseState);
        const done = await act(lease, met);
        assert.deepEqual([done.etag, done.lastModified], [etag, lastModified], String(act));
        assert.equal((await leased.getProperties()).etag, etag);
      }
    });
  }
}

/** Makes a client that adds a condition which fails for this version. */
function clientWithUnmet(condition: Condition, version: Version) {
  const [value] = Object.values(conditionsFor(version)[condition].unmet);
  const text = value instanceof Date ? value.toUTCString() : String(value);
  return clientThatAdds(server, { [HEADERS[condition]]: text });
}

// The SDK takes no conditions where the service accepts none, so the client adds them to its
// requests. An operation that heeds them shows that they are sent.
for (const condition of ALL) {
  test(`blob operations without conditions ignore ${condition} when a client adds it`, async () => {
    const container = await server.makeContainer();
    const { name, containerName } = await newBlobFor(container, "blob");
    const version = await container.getBlobClient(name).getProperties();
    const adding = clientWithUnmet(condition, version).getContainerClient(containerName);
    const blob = adding.getBlobClient(name);
    await refused(blob.setMetadata({}), 412, "ConditionNotMet");
    const ignoring = CLIENT_OPERATIONS.filter(({ acceptsConditions }) => !acceptsConditions);
    assert.equal(ignoring.length, 2);
    for (const { ask } of ignoring) await ask(blob, {});
  });

  test(`Abort Copy Blob ignores ${condition} when a client adds it, and returns no ETag`, async (t) => {
    t.after(() => elsewhere.release());
    const container = await server.makeContainer();
    const copy = container.getBlobClient("copy");
    const id = await beginPendingCopy(copy, elsewhere);
    const adding = clientWithUnmet(condition, await copy.getProperties());
    const blob = adding.getContainerClient(container.containerName).getBlobClient(copy.name);
    await refused(blob.setMetadata({}), 412, "ConditionNotMet");
    assert.equal(etagIn(await blob.abortCopyFromURL(id)), undefined);
    assert.equal((await copy.getProperties()).copyStatus, "aborted");
  });

  test(`container operations without conditions ignore ${condition} when a client adds it`, async () => {
    const found = await server.makeContainer();
    const adding = clientWithUnmet(condition, await found.getProperties());
    const container = adding.getContainerClient(found.containerName);
    await refused(container.setMetadata({}), 412, "ConditionNotMet");
    for (const { ask } of CONTAINER_OPERATIONS.filter(({ kind }) => kind === "reads")) {
      await ask(container, {});
    }
    const { value } = await container.listBlobsFlat().byPage().next();
    assert.equal(etagIn(value), undefined);
    const made = await adding.getContainerClient(`${found.containerName}-next`).create();
    assert.notEqual(etagIn(made), undefined);
  });
}
