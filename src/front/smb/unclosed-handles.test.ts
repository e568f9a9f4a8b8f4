import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualTimer } from "../../service/file/manual-timer.fixture.ts";
import { StoreError, type StoreErrorKind } from "../../store/store.ts";
import { accessBits, closeBody, createBody, handleIn } from "./client/file-requests.ts";
import { COMMAND } from "./codec/header.ts";
import { STATUS } from "./nt-status.ts";
import type { DirectLine, SmbClient } from "./smb-client.fixture.ts";
import { serverUnderTest, USER } from "./smb-server.fixture.ts";

const AGAIN_MS = 1_000;

/** A server whose store fails with `state.kind`; null to let it work. */
async function bed() {
  const state: { kind: StoreErrorKind | null } = { kind: null };
  const timer = new ManualTimer();
  const failure = () => (state.kind === null ? null : new StoreError(state.kind, "a detail"));
  const { client, server } = await serverUnderTest({ failure, timer });
  const connect = async () => {
    const made = client();
    await made.negotiate();
    assert.equal((await made.logOn(USER)).status, STATUS.SUCCESS);
    assert.equal((await made.treeConnect("box")).status, STATUS.SUCCESS);
    return made;
  };
  /** Resolves once what the timer has started is done. */
  const passSecond = async () => {
    timer.pass(AGAIN_MS);
    await new Promise(setImmediate);
  };
  /** As if all clients were told that their handles are lost. */
  const forget = () => {
    for (const { unclosed } of server.hosts) unclosed.forget();
  };
  return { state, timer, connect, passSecond, forget };
}

/** Opens a file that nobody else may open meanwhile. */
function open(client: SmbClient, name = "file") {
  const access = accessBits(["read", "write"]);
  const body = createBody({ name, access, share: 0, disposition: "openIf" });
  return client.call(COMMAND.create, body);
}

test("a client that leaves while the store is away keeps nobody away after that", async () => {
  for (const kind of ["unreachable", "unknown", "full"] as const) {
    const { state, timer, connect, passSecond } = await bed();
    const [one, other] = [await connect(), await connect()];
    assert.equal((await open(one)).status, STATUS.SUCCESS);
    state.kind = kind;
    await (one.line as DirectLine).end();
    await passSecond();
    state.kind = null;
    await passSecond();
    assert.equal((await open(other)).status, STATUS.SUCCESS, kind);
    assert.equal(timer.running, 0, "it is tried no more");
  }
});

test("a handle whose CLOSE fails is closed later", async () => {
  const { state, connect, passSecond } = await bed();
  const [one, other] = [await connect(), await connect()];
  const handle = handleIn(await open(one));
  state.kind = "unreachable";
  const failed = await one.call(COMMAND.close, closeBody(handle));
  assert.equal(failed.status, STATUS.SERVER_UNAVAILABLE);
  state.kind = null;
  assert.equal((await open(other)).status, STATUS.SHARING_VIOLATION);
  await passSecond();
  assert.equal((await open(other)).status, STATUS.SUCCESS);
});

test("an open that nobody knows the outcome of is closed", async () => {
  const { state, timer, connect, passSecond } = await bed();
  const [one, other] = [await connect(), await connect()];
  state.kind = "unknown";
  assert.equal((await open(one)).status, STATUS.INTERNAL_ERROR);
  state.kind = null;
  assert.equal((await open(other)).status, STATUS.SHARING_VIOLATION, "it took effect");
  await passSecond();
  assert.equal((await open(other)).status, STATUS.SUCCESS);
  assert.equal(timer.running, 0);
});

test("a damaged record is not asked for again and again", async () => {
  const { state, timer, connect } = await bed();
  const one = await connect();
  assert.equal((await open(one)).status, STATUS.SUCCESS);
  state.kind = "damaged";
  await (one.line as DirectLine).end();
  assert.equal(timer.running, 0);
});

test("handles that others end are left to them, and later ones are not", async () => {
  const { state, timer, connect, passSecond, forget } = await bed();
  const [one, two, other] = [await connect(), await connect(), await connect()];
  await open(one);
  await open(two, "later");
  state.kind = "unreachable";
  await (one.line as DirectLine).end();
  forget();
  await (two.line as DirectLine).end();
  state.kind = null;
  await passSecond();
  assert.equal((await open(other)).status, STATUS.SHARING_VIOLATION);
  assert.equal((await open(other, "later")).status, STATUS.SUCCESS);
  assert.equal(timer.running, 0);
});
