import assert from "node:assert/strict";
import { test } from "node:test";
import type { Census, CensusFigures } from "./census.ts";
import { Censuses } from "./censuses.ts";

function census(figures: CensusFigures | null): Census {
  return { figures } as Census;
}

test("figures of several databases are summed up, without those that are not known yet", () => {
  const figures = (at: number): CensusFigures => ({
    begunMs: at,
    endedMs: at + 10,
    records: at,
    count: (counted) => (counted === "blobs" ? at : 0),
    oldestMessageMs: at,
    liveBytes: at,
  });
  const some = new Censuses([census(figures(3)), census(null), census(figures(5))]).figures;
  assert.deepEqual(
    [some?.begunMs, some?.endedMs, some?.records, some?.oldestMessageMs, some?.liveBytes],
    [3, 15, 8, 3, 8],
  );
  assert.deepEqual([some?.count("blobs"), some?.count("queues")], [8, 0]);
  const quiet = new Censuses([
    census({ ...figures(3), oldestMessageMs: null }),
    census({ ...figures(5), oldestMessageMs: null }),
  ]);
  assert.equal(quiet.figures?.oldestMessageMs, null);
  assert.equal(new Censuses([census(null), census(null)]).figures, null);
});
