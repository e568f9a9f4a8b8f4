import assert from "node:assert/strict";
import { test } from "node:test";
import { assertReference } from "../../../base/reference.fixture.ts";
import { QUEUE_HANDLERS } from "./handlers.ts";
import { QUEUE_ROUTES } from "./route.ts";

test("docs/reference/queue-operations.md lists every operation", () => {
  assertReference("queue-operations.md", reference());
});

test("every operation with a handler can be requested", () => {
  const names = new Set<string>(rows().map(({ operation }) => operation));
  assert.deepEqual([...names].sort(), Object.keys(QUEUE_HANDLERS).sort());
});

interface Row {
  readonly operation: string;
  readonly request: string;
}

const PATHS = {
  account: "/",
  queue: "/queue",
  messages: "/queue/messages",
  message: "/queue/messages/id",
} as const;

function rows(): Row[] {
  const routed = Object.entries(QUEUE_ROUTES).flatMap(([level, routes]) =>
    Object.entries(routes).map(([route, operation]) => {
      const [method, comp, restype] = route.split(" ");
      const query = [restype && `restype=${restype}`, comp && `comp=${comp}`].filter(Boolean);
      const path = PATHS[level as keyof typeof PATHS];
      return {
        operation,
        request: `${method} ${[path, query.join("&")].filter(Boolean).join("?")}`,
      };
    }),
  );
  return [...routed, { operation: "peekMessages", request: "GET /queue/messages?peekonly=true" }];
}

function reference(): string {
  const lines = rows().map(({ operation, request }) => `| ${operation} | \`${request}\` |`);
  return `# Operations of the Queue service

All operations of the service are supported. Paths are those below the account. \`listMessages\` and \`restoreMessages\` are of this server alone: exports and
imports use them, with a key of the account, to read messages without receiving them and to put them back with their ids, times and dequeue counts.

| operation | request |
|---|---|
${lines.join("\n")}

## Messages

* The text of a message has up to 65,536 bytes of UTF-8, counted before XML escapes. Every character that XML allows
  comes back unchanged. Carriage returns come back as \`&#xD;\`, which the JavaScript SDK does not decode.
* Get takes 1 to 32 messages at once and hides them for 1 second to 7 days (default: 30 seconds).
  Put and Update hide for 0 seconds to 7 days.
* A message expires after 7 days, or after the given time to live; -1 means never. Expired messages are never returned.
* A pop receipt is valid until a get or an update returns a newer one for the same message, even if the message is visible
  again by then. No receipt is ever given twice.
* Messages come in the order in which they become visible.
* Get, peek and delete cost the same with any number of messages. Clear and Delete Queue take effect at once, and their space is
  freed in the background.
* \`x-ms-approximate-messages-count\` includes hidden messages. It includes expired ones until they are removed: by the next get that
  meets them, or by the server within about an hour.
`;
}
