// My code survives a lost lease: a worker that holds a lease for too long must not overwrite the
// work of the one that took over.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { BlobServiceClient, type BlockBlobClient } from "@azure/storage-blob";
import { type RunningServer, start } from "lazuli";
import { Lab } from "lazuli/lab";

let lazuli: RunningServer;
let lab: Lab;
let report: BlockBlobClient;

before(async () => {
  lazuli = await start({ services: ["blob"], lab: true });
  lab = new Lab(lazuli);
  const service = BlobServiceClient.fromConnectionString(lazuli.connectionString);
  const container = service.getContainerClient("reports");
  await container.create();
  report = container.getBlockBlobClient("today.txt");
  await report.upload("", 0);
});

after(() => lazuli.stop());

/** The code under test: writes what `work` makes, unless the lease was lost meanwhile. */
async function writeReport(work: () => Promise<string>): Promise<"written" | "lost"> {
  const lease = report.getBlobLeaseClient();
  const { leaseId = "" } = await lease.acquireLease(15);
  const text = await work();
  try {
    await report.upload(text, text.length, { conditions: { leaseId } });
    await lease.releaseLease();
    return "written";
  } catch (error) {
    if ((error as { statusCode?: number }).statusCode === 412) return "lost";
    throw error;
  }
}

test("a worker whose lease has ended notices, and leaves the other's work alone", async () => {
  const outcome = await writeReport(async () => {
    // The work takes longer than the lease, and another worker takes over.
    await lab.move("16s");
    assert.equal(await writeReport(async () => "by the second"), "written");
    return "by the first";
  });
  assert.equal(outcome, "lost");
  assert.equal((await report.downloadToBuffer()).toString(), "by the second");
});
