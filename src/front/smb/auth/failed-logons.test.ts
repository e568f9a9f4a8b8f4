import assert from "node:assert/strict";
import { test } from "node:test";
import { ManualClock } from "../../../base/clock.ts";
import { ManualTimer } from "../../../service/file/manual-timer.fixture.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { LogonRefused } from "./authentication.ts";
import {
  DEFAULT_LOGON_LIMITS,
  delayAfter,
  FailedLogons,
  type LogonLimits,
  networkOf,
} from "./failed-logons.ts";

const HERE = "10.0.0.1";
const THERE = "10.0.0.2";

function logons(limits: Partial<LogonLimits> = {}) {
  const timer = new ManualTimer();
  const clock = new ManualClock(Date.UTC(2026, 0, 1));
  const lines: string[] = [];
  const all = { ...DEFAULT_LOGON_LIMITS, ...limits };
  const failed = new FailedLogons(all, clock, timer, (line) => lines.push(line));
  const attempt = (user: string, address: string, isRight: boolean, gone?: AbortSignal) => {
    const found = { status: null as number | null, wasChecked: false };
    const claimant = { address, user, gone: gone ?? new AbortController().signal };
    const prove = () => {
      found.wasChecked = true;
      if (!isRight) throw new LogonRefused("wrong account or key");
      return STATUS.SUCCESS;
    };
    const end = (status: number) => {
      found.status = status;
    };
    const ended = failed.check(claimant, prove).then(end, ({ status }) => end(status));
    return { found, ended };
  };
  return {
    failed,
    timer,
    clock,
    lines,
    guess: (user = "bob", address = HERE, gone?: AbortSignal) =>
      attempt(user, address, false, gone),
    know: (user = "bob", address = HERE) => attempt(user, address, true),
    /** Fails this many times, and answers all failures. */
    async fail(times: number, user = "bob", address = HERE) {
      for (let time = 0; time < times; time++) {
        const { ended } = attempt(user, address, false);
        timer.pass(Number.MAX_SAFE_INTEGER);
        await ended;
      }
    },
  };
}

test("the first failures are answered at once, later ones after 1, 2, 4 and then 8 s", () => {
  const delays = Array.from({ length: 12 }, (_, index) => delayAfter(index + 1));
  assert.deepEqual(delays.slice(0, 8), [0, 0, 0, 0, 1_000, 2_000, 4_000, 8_000]);
  assert.deepEqual(new Set(delays.slice(8)), new Set([8_000]));
});

test("the response to a failure is delayed by the schedule, for that account at that address only", async () => {
  const { guess, fail, timer } = logons({ delayMs: (failures) => (failures > 2 ? 500 : 0) });
  await fail(2);
  const slow = guess();
  assert.equal(slow.found.wasChecked, true);
  timer.pass(499);
  await guess("bob", THERE).ended;
  await guess("eve", HERE).ended;
  assert.equal(slow.found.status, null);
  timer.pass(1);
  await slow.ended;
  assert.equal(slow.found.status, STATUS.LOGON_FAILURE);
});

test("the right key is accepted at once while guesses at the same account and address are delayed", async () => {
  const { guess, know, fail, timer } = logons({ delayedMax: 3 });
  await fail(10);
  const guesses = [guess(), guess()];
  const right = know();
  await right.ended;
  assert.equal(right.found.status, STATUS.SUCCESS);
  assert.deepEqual(
    guesses.map(({ found }) => found.status),
    [null, null],
  );
  timer.pass(8_000);
  await Promise.all(guesses.map(({ ended }) => ended));
});

test("a success resets the count", async () => {
  const { guess, know, fail, failed } = logons();
  await fail(10);
  await know().ended;
  assert.equal(failed.size, 0);
  const next = guess();
  await next.ended;
  assert.equal(next.found.status, STATUS.LOGON_FAILURE);
});

test("a success does not help clients that guess at the same time", async () => {
  const { guess, know, fail, failed, timer } = logons();
  await fail(10);
  const guessing = guess();
  await know().ended;
  assert.equal(failed.size, 1);
  const next = guess();
  timer.pass(7_999);
  assert.deepEqual([guessing.found.status, next.found.status], [null, null]);
  timer.pass(1);
  await Promise.all([guessing.ended, next.ended]);
});

test("while many guesses are delayed no more are checked, even if their clients disconnect", async () => {
  const { guess, know, fail, timer } = logons({ delayedMax: 2, waitingMax: 2 });
  await fail(10);
  const impatient = new AbortController();
  const delayed = [guess("bob", HERE, impatient.signal), guess("bob", HERE, impatient.signal)];
  impatient.abort();
  await Promise.all(delayed.map(({ ended }) => ended));
  const waiting = guess();
  const right = know();
  const third = guess();
  await third.ended;
  assert.equal(third.found.status, STATUS.ACCOUNT_LOCKED_OUT);
  assert.equal(third.found.wasChecked, false);
  assert.deepEqual([waiting.found.wasChecked, right.found.wasChecked], [false, false]);
  const elsewhere = know("bob", THERE);
  await elsewhere.ended;
  assert.equal(elsewhere.found.status, STATUS.SUCCESS);
  timer.pass(8_000);
  await right.ended;
  assert.equal(right.found.status, STATUS.SUCCESS);
  assert.equal(waiting.found.wasChecked, true);
  timer.pass(8_000);
  await waiting.ended;
});

test("a client that disconnects while it waits for its check is never checked", async () => {
  const { guess, fail } = logons({ delayedMax: 1 });
  await fail(10);
  void guess();
  const end = new AbortController();
  const waiting = guess("bob", HERE, end.signal);
  end.abort();
  await waiting.ended;
  assert.equal(waiting.found.wasChecked, false);
});

test("failures are forgotten after a while", async () => {
  const { guess, fail, clock, lines } = logons({ rememberedMs: 1_000, logLinesMax: 100 });
  await fail(10);
  clock.advance(1_001);
  const next = guess();
  await next.ended;
  assert.match(lines.at(-1) as string, /\(1 in a row\)/);
});

test("memory is bounded, and made-up names do not evict a guessed one", async () => {
  const { failed, fail, guess, timer } = logons({ addressesMax: 3, accountsPerAddressMax: 4 });
  await fail(5, "bob");
  for (let index = 0; index < 50; index++) await fail(1, `made-up${index}`);
  assert.equal(failed.size, 4);
  const again = guess("bob");
  assert.equal(timer.running, 1, "the sixth failure is still known to be that");
  timer.pass(8_000);
  await again.ended;
  for (let index = 0; index < 50; index++) await fail(1, "bob", `10.0.1.${index}`);
  assert.equal(failed.size, 3);
});

test("each failure is logged with its address, account and count; names cannot forge lines", async () => {
  const { fail, lines } = logons();
  await fail(5, "bob\n2026 all is well \u202e");
  await fail(1, "x".repeat(1_000));
  assert.equal(
    lines[0],
    'log-on refused: account "bob\\n2026 all is well \\u202e" at 10.0.0.1: wrong account or key (1 in a row)',
  );
  assert.match(lines[4] as string, /\(5 in a row, answered after 1000 ms\)$/);
  assert.ok((lines[5] as string).length < 200);
});

test("beyond a number of log lines per window, failures are only counted", async () => {
  const { fail, lines, clock } = logons({ logLinesMax: 3, logWindowMs: 1_000 });
  for (let index = 0; index < 10; index++) await fail(1, `name${index}`);
  assert.equal(lines.length, 3);
  clock.advance(1_000);
  await fail(1, "last");
  assert.equal(lines[3], "log-ons refused: 7 more, not listed");
  assert.match(lines[4] as string, /"last"/);
});

test("other errors than refused log-ons are neither counted nor delayed", async () => {
  const { failed } = logons();
  const claimant = { address: HERE, user: "bob", gone: new AbortController().signal };
  const prove = () => {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  };
  await assert.rejects(failed.check(claimant, prove), StatusError);
  assert.equal(failed.size, 0);
});

test("addresses are counted by the network that one client can choose from", () => {
  for (const [address, network] of [
    ["10.1.2.3", "10.1.2.3"],
    ["::ffff:10.1.2.3", "10.1.2.3"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["::1", "0:0:0:0"],
    ["fe80::1:2:3:4%eth0", "fe80:0:0:0"],
  ] as const) {
    assert.equal(networkOf(address), network);
  }
});
