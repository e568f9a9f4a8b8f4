import assert from "node:assert/strict";
import { test } from "node:test";
import { REQUESTS_MAX, withNews } from "../../console/request-list.ts";

const numbered = (from: number, count: number) =>
  Array.from({ length: count }, (_, at) => ({ number: from + at }));

test("the list of live requests has each once, the newest first, and forgets the oldest", () => {
  const first = withNews([], numbered(1, 3));
  assert.deepEqual(
    withNews(first, numbered(2, 3)).map(({ number }) => number),
    [4, 3, 2, 1],
  );
  // A page asks for what came before its stream: the answer may be older than what the stream has told.
  assert.deepEqual(
    withNews(numbered(4, 1), numbered(1, 3)).map(({ number }) => number),
    [4, 3, 2, 1],
  );
  assert.deepEqual(withNews([], numbered(1, 4), 3), numbered(4, 1));
  let list = first;
  for (let from = 4; from < 2 * REQUESTS_MAX; from += 100)
    list = withNews(list, numbered(from, 100));
  assert.equal(list.length, REQUESTS_MAX);
  assert.equal((list[0]?.number ?? 0) - (list.at(-1)?.number ?? 0), REQUESTS_MAX - 1);
});
