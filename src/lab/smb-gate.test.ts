import assert from "node:assert/strict";
import { test } from "node:test";
import { DropConnection } from "../front/smb/drop-connection.ts";
import { STATUS, StatusError } from "../front/smb/nt-status.ts";
import { type LabUnderTest, labUnderTest, settled } from "./lab.fixture.ts";
import { REFUSALS } from "./smb-gate.ts";

const WRITE = { operation: "Write", account: "near", share: "box", path: "doc", requestId: "1" };

/** A write over SMB whose answer holds memory, and what of that was released. */
function writing({ lab }: Pick<LabUnderTest, "lab">) {
  const released: string[] = [];
  const held = (what: string) => ({ release: () => void released.push(what) });
  const answer = { borrowed: held("memory"), share: held("share of the budget") };
  let done = 0;
  const pass = () =>
    lab.smbGate.pass(WRITE, async () => {
      done++;
      return answer;
    });
  return { answer, released, pass, timesDone: () => done };
}

test("an answer that a rule replaces is released, and another one is the client's", async () => {
  const { lab } = labUnderTest();
  const { answer, released, pass, timesDone } = writing({ lab });
  lab.addRule({ service: "smb", answer: "STATUS_DISK_FULL", at: "answer" });
  await assert.rejects(pass, new StatusError(STATUS.DISK_FULL));
  assert.deepEqual(released, ["memory", "share of the budget"]);
  assert.equal(timesDone(), 1);
  assert.equal(await pass(), answer);
  assert.equal(released.length, 2);
});

test("a request that a rule answers or drops at its arrival is not done", async () => {
  const { lab } = labUnderTest();
  const { released, pass, timesDone } = writing({ lab });
  lab.addRule({ service: "smb", answer: "STATUS_LOCK_NOT_GRANTED" });
  lab.addRule({ service: "smb", drop: true });
  await assert.rejects(pass, new StatusError(STATUS.LOCK_NOT_GRANTED));
  await assert.rejects(pass, DropConnection);
  assert.deepEqual([timesDone(), released], [0, []]);
});

test("a rule sees operation, account, share and path of a request, and holds it", async () => {
  const { lab } = labUnderTest();
  const { pass, timesDone } = writing({ lab });
  const about = { operation: "Write", account: "near", container: "box", object: "doc" };
  lab.addRule({ service: "smb", ...about, hold: true, at: "arrival" });
  const passed = pass();
  await settled();
  assert.equal(timesDone(), 0);
  const [waiting] = lab.room.shown;
  assert.deepEqual(
    { ...waiting, id: 0, rule: 0, waitedMs: 0 },
    {
      ...{ id: 0, rule: 0, at: "arrival", service: "smb", ...about, method: "" },
      ...{ requestId: "1", clientRequestId: null, waitedMs: 0 },
    },
  );
  lab.close();
  await passed;
  assert.equal(timesDone(), 1);
});

test("only statuses that refuse a request are answers", () => {
  assert.equal(REFUSALS.get("STATUS_DISK_FULL"), STATUS.DISK_FULL);
  for (const name of ["SUCCESS", "PENDING", "BUFFER_OVERFLOW", "MORE_PROCESSING_REQUIRED"]) {
    assert.equal(name in STATUS, true, name);
    assert.equal(REFUSALS.has(`STATUS_${name}`), false, name);
  }
});
