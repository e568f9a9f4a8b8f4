import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import fc from "fast-check";
import { etagOf } from "../base/stamp.ts";
import {
  type Conditions,
  judgeCreateByConditions,
  judgeReadByConditions,
  judgeSourceByConditions,
  judgeUploadByConditions,
  judgeWriteByConditions,
  NO_CONDITIONS,
  type Versioned,
} from "./conditions.ts";

type Header = "ifMatch" | "ifNoneMatch" | "ifModifiedSince" | "ifUnmodifiedSince";
/** Whether each header holds; null if it is not sent. */
type Row = Record<Header, boolean | null>;

const vectors: {
  reads_2013_08_15_and_later: (Row & { read: 200 | 304 | 412 })[];
  writes: { headers: Header[]; rule: string }[];
} = JSON.parse(readFileSync("test/vectors/conditions.json", "utf8"));

const FOUND: Versioned = { etag: 17_000_000_000_000_000n, modifiedMs: 1_700_000_000_700 };
const EARLIER_MS = FOUND.modifiedMs - 10_000;
const HEADERS: Header[] = ["ifMatch", "ifNoneMatch", "ifModifiedSince", "ifUnmodifiedSince"];

/** Headers that hold or fail on `FOUND` as a row says. */
function conditionsOf(row: Row): Conditions {
  const equal = [etagOf(FOUND.etag)];
  const other = ["0x8D0000000000000"];
  const choose = <T>(holds: boolean | null, ifHolds: T, ifNot: T) =>
    holds === null ? null : holds ? ifHolds : ifNot;
  return {
    ifMatch: choose(row.ifMatch, equal, other),
    ifNoneMatch: choose(row.ifNoneMatch, other, equal),
    ifModifiedSinceMs: choose(row.ifModifiedSince, EARLIER_MS, FOUND.modifiedMs),
    ifUnmodifiedSinceMs: choose(row.ifUnmodifiedSince, FOUND.modifiedMs, EARLIER_MS),
  };
}

function everyRow(): Row[] {
  const values = [null, true, false];
  return values.flatMap((ifMatch) =>
    values.flatMap((ifNoneMatch) =>
      values.flatMap((ifModifiedSince) =>
        values.map((ifUnmodifiedSince) => ({
          ifMatch,
          ifNoneMatch,
          ifModifiedSince,
          ifUnmodifiedSince,
        })),
      ),
    ),
  );
}

test("reads answer every combination as the table says", () => {
  const rows = vectors.reads_2013_08_15_and_later;
  assert.equal(rows.length, 81);
  const codes = { 200: null, 304: "NotModified", 412: "ConditionNotMet" };
  for (const row of rows) {
    assert.equal(
      judgeReadByConditions(FOUND, conditionsOf(row)),
      codes[row.read],
      JSON.stringify(row),
    );
  }
});

/** The verdict of the table of writes for a row. */
function expectedOfWrite(row: Row): string | null {
  const sent = HEADERS.filter((header) => row[header] !== null);
  if (sent.length === 0) return null;
  const entry = vectors.writes.find(
    ({ headers }) => headers.length === sent.length && headers.every((one) => sent.includes(one)),
  );
  if (entry === undefined || entry.rule.startsWith("400")) {
    return "MultipleConditionHeadersNotSupported";
  }
  const decides = /^only (\w+) decides$/.exec(entry.rule)?.[1] ?? entry.headers[0];
  return row[decides as Header] ? null : "ConditionNotMet";
}

test("writes answer every combination as the table says", () => {
  for (const row of everyRow()) {
    const asked = conditionsOf(row);
    assert.equal(judgeWriteByConditions(FOUND, asked), expectedOfWrite(row), JSON.stringify(row));
    assert.equal(judgeCreateByConditions(FOUND, asked), expectedOfWrite(row), JSON.stringify(row));
  }
});

test("on something that does not exist, If-Match fails and the other headers pass", () => {
  for (const row of everyRow()) {
    const expected = expectedOfWrite({
      ifMatch: row.ifMatch === null ? null : false,
      ifNoneMatch: row.ifNoneMatch === null ? null : true,
      ifModifiedSince: row.ifModifiedSince === null ? null : true,
      ifUnmodifiedSince: row.ifUnmodifiedSince === null ? null : true,
    });
    assert.equal(judgeCreateByConditions(null, conditionsOf(row)), expected, JSON.stringify(row));
  }
});

test("If-Match: * passes on everything that exists and on nothing else", () => {
  const any = { ...NO_CONDITIONS, ifMatch: ["*"] };
  assert.equal(judgeReadByConditions(FOUND, any), null);
  assert.equal(judgeWriteByConditions(FOUND, any), null);
  assert.equal(judgeCreateByConditions(null, any), "ConditionNotMet");
});

test("If-None-Match: * creates but never replaces, does not block updates, and is invalid on reads", () => {
  const none = { ...NO_CONDITIONS, ifNoneMatch: ["*"] };
  assert.equal(judgeCreateByConditions(null, none), null);
  assert.equal(judgeCreateByConditions(FOUND, none), "BlobAlreadyExists");
  assert.equal(judgeWriteByConditions(FOUND, none), null);
  assert.equal(judgeReadByConditions(FOUND, none), "UnsatisfiableCondition");
});

test("reads accept lists of ETags, writes do not", () => {
  const list = ["0x1", etagOf(FOUND.etag)];
  assert.equal(judgeReadByConditions(FOUND, { ...NO_CONDITIONS, ifMatch: list }), null);
  assert.equal(
    judgeReadByConditions(FOUND, { ...NO_CONDITIONS, ifNoneMatch: list }),
    "NotModified",
  );
  assert.equal(judgeReadByConditions(FOUND, { ...NO_CONDITIONS, ifNoneMatch: ["0x1"] }), null);
  for (const asked of [{ ifMatch: list }, { ifNoneMatch: list }]) {
    assert.equal(
      judgeWriteByConditions(FOUND, { ...NO_CONDITIONS, ...asked }),
      "MultipleConditionHeadersNotSupported",
    );
  }
});

const instants = fc.integer({ min: 0, max: 4_102_444_800_000 });

test("dates are compared by whole seconds", () => {
  fc.assert(
    fc.property(instants, instants, fc.nat(999), fc.nat(999), (modified, date, moreM, moreD) => {
      const wholeSecond = (ms: number) => ms - (ms % 1000);
      const asked = { ...NO_CONDITIONS, ifUnmodifiedSinceMs: wholeSecond(date) };
      const rounded = { ...asked, ifUnmodifiedSinceMs: wholeSecond(date) + moreD };
      assert.equal(
        judgeWriteByConditions({ etag: 1n, modifiedMs: wholeSecond(modified) }, asked),
        judgeWriteByConditions({ etag: 1n, modifiedMs: wholeSecond(modified) + moreM }, rounded),
      );
    }),
  );
});

test("of two versions, an ETag matches exactly its own", () => {
  const stamps = fc.bigInt({ min: 0n, max: 2n ** 62n });
  fc.assert(
    fc.property(stamps, stamps, instants, (etag, sent, modifiedMs) => {
      const found = { etag, modifiedMs };
      const asked = { ...NO_CONDITIONS, ifMatch: [etagOf(sent)] };
      const expected = etag === sent ? null : "ConditionNotMet";
      assert.equal(judgeReadByConditions(found, asked), expected);
      assert.equal(judgeWriteByConditions(found, asked), expected);
      assert.equal(judgeCreateByConditions(found, asked), expected);
    }),
  );
});

test("If-Modified-Since and If-Unmodified-Since with one date are opposites", () => {
  fc.assert(
    fc.property(instants, instants, (modifiedMs, dateMs) => {
      const found = { etag: 1n, modifiedMs };
      const since = judgeWriteByConditions(found, { ...NO_CONDITIONS, ifModifiedSinceMs: dateMs });
      const until = judgeWriteByConditions(found, {
        ...NO_CONDITIONS,
        ifUnmodifiedSinceMs: dateMs,
      });
      assert.notEqual(since === null, until === null);
    }),
  );
});

test("a copied source is judged like a write, and a source that is read like a read", () => {
  const { etag, modifiedMs } = FOUND;
  for (const [asked, read] of [
    [{ ifMatch: ["0x1"] }, "ConditionNotMet"],
    [{ ifUnmodifiedSinceMs: modifiedMs - 1_000 }, "ConditionNotMet"],
    [{ ifNoneMatch: [etagOf(etag)] }, "NotModified"],
    [{ ifModifiedSinceMs: modifiedMs }, "NotModified"],
  ] as const) {
    const conditions = { ...NO_CONDITIONS, ...asked };
    assert.equal(judgeSourceByConditions(FOUND, conditions, "copied"), "SourceConditionNotMet");
    assert.equal(judgeSourceByConditions(FOUND, conditions, "read"), read);
  }
});

test("Put Blob From URL refuses unmet ETags with the code for targets, and unmet dates without", () => {
  const { modifiedMs } = FOUND;
  for (const [asked, code] of [
    [{ ifMatch: ["0x1"] }, "TargetConditionNotMet"],
    [{ ifNoneMatch: [etagOf(FOUND.etag)] }, "TargetConditionNotMet"],
    [{ ifNoneMatch: ["*"] }, "BlobAlreadyExists"],
    [{ ifModifiedSinceMs: modifiedMs }, "ConditionNotMet"],
    [{ ifUnmodifiedSinceMs: modifiedMs - 1_000 }, "ConditionNotMet"],
  ] as const) {
    assert.equal(judgeUploadByConditions(FOUND, { ...NO_CONDITIONS, ...asked }), code);
  }
});
