import { KIB, MIB } from "../base/limits.ts";
import type { Answer } from "./answer.ts";
import { heldBody } from "./gathered.ts";
import type { BlobItem, BlobRevision, Body } from "./item.ts";
import { isRemoteBody } from "./remote-body.ts";
import type { RestClient } from "./rest-client.ts";
import { TransferError } from "./transfer-error.ts";

/** Longer bodies are read by themselves when their turn comes. */
const SMALL_BYTES_MAX = 64 * KIB;
const GROUP_ITEMS_MAX = 128;
const GROUP_BODIES_MAX = 128;
const GROUP_BYTES_MAX = MIB;

/**
 * Fetches the bodies of small blobs many at a time, and one group ahead of whoever takes the items,
 * so that the server works meanwhile.
 */
export async function* fetchTogether(
  client: RestClient,
  container: string,
  items: AsyncIterable<BlobItem>,
): AsyncGenerator<BlobItem> {
  let ready: Promise<BlobItem[]> = Promise.resolve([]);
  for await (const group of groupsOf(items)) {
    const next = fetchGroup(client, container, group);
    // It may fail before anybody awaits it.
    next.catch(() => {});
    yield* await ready;
    ready = next;
  }
  yield* await ready;
}

async function* groupsOf(items: AsyncIterable<BlobItem>): AsyncGenerator<BlobItem[]> {
  let group: BlobItem[] = [];
  let [bodies, bytes] = [0, 0];
  for await (const item of items) {
    const small = item.revisions.filter(isSmall);
    const own = small.reduce((sum, { body }) => sum + body.bytes, 0);
    const isFull = bodies + small.length > GROUP_BODIES_MAX || bytes + own > GROUP_BYTES_MAX;
    if (isFull || group.length === GROUP_ITEMS_MAX) {
      yield group;
      group = [];
      [bodies, bytes] = [0, 0];
    }
    group.push(item);
    bodies += small.length;
    bytes += own;
  }
  if (group.length > 0) yield group;
}

function isSmall({ body }: BlobRevision): boolean {
  return body.bytes > 0 && body.bytes <= SMALL_BYTES_MAX && isRemoteBody(body);
}

async function fetchGroup(
  client: RestClient,
  container: string,
  group: readonly BlobItem[],
): Promise<BlobItem[]> {
  const small = group.flatMap(({ revisions }) => revisions.filter(isSmall));
  const asked = small.flatMap(({ body }) => (isRemoteBody(body) ? [body.asked] : []));
  if (asked.length > GROUP_BODIES_MAX || asked.length === 0) return [...group];
  const answers = await client.together(container, asked);
  const bodies = new Map(small.map(({ body }, at) => [body, fetched(body, answers[at])]));
  return group.map((item) => ({
    ...item,
    revisions: item.revisions.map((one) => ({ ...one, body: bodies.get(one.body) ?? one.body })),
  }));
}

/** What could not be fetched is asked for again when it is read, which then says why. */
function fetched(body: Body, answer: Answer | TransferError | undefined): Body {
  if (answer === undefined || answer instanceof TransferError) return body;
  return answer.bytes.length === body.bytes ? heldBody(answer.bytes) : body;
}
