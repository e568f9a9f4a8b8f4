import assert from "node:assert/strict";
import { test } from "node:test";
import { accessBits, createBody } from "./client/file-requests.ts";
import { COMMAND } from "./codec/header.ts";
import { STATUS } from "./nt-status.ts";
import type { DirectLine } from "./smb-client.fixture.ts";
import { serverUnderTest, USER } from "./smb-server.fixture.ts";

const OPENS = 5;

test("the handles of a connection are closed at once, so that they share commits", async () => {
  let waiting: (() => void)[] | null = null;
  const gate = () =>
    new Promise<void>((go) => {
      if (waiting === null) return go();
      waiting.push(go);
      if (waiting.length === OPENS) for (const each of waiting.splice(0)) each();
    });
  const { client, failures } = await serverUnderTest({ gate });
  const made = client();
  await made.negotiate();
  await made.logOn(USER);
  await made.treeConnect("box");
  for (let at = 0; at < OPENS; at++) {
    const access = accessBits(["read", "write"]);
    const body = createBody({ name: `file ${at}`, access, share: 0, disposition: "openIf" });
    assert.equal((await made.call(COMMAND.create, body)).status, STATUS.SUCCESS);
  }
  waiting = [];
  await (made.line as DirectLine).end();
  assert.deepEqual(failures, []);
});
