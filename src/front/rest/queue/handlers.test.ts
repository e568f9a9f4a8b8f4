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

All operations of the service are supported. Paths are those below the account.

| operation | request |
|---|---|
${lines.join("\n")}

## Messages

* A message has a text of up to 65,536 bytes of UTF-8, counted before XML escapes it. Every
  character that XML can carry comes back as it was sent, carriage returns too (as \`&#xD;\`: the
  JavaScript SDK shows that as it stands).
* Get takes 1 to 32 messages in one step and hides them for 1 second to 7 days, 30 seconds unless told.
  Put and Update hide for 0 seconds to 7 days.
* A message lives for 7 days unless told; -1 is for ever. It is gone from the moment on at which it expires.
* A pop receipt is good until the next one is given for the same message, by a get or an update, even if the time
  for which it hid the message has passed. No receipt is ever given twice.
* Messages come in the order in which they become visible.
* Get, peek and delete cost the same whatever the number of messages. Clear and Delete Queue take effect at once, and the space comes
  back in the background.
* \`x-ms-approximate-messages-count\` counts hidden messages too, and expired ones until they are cleared away, which a get
  does on its way and the server within an hour or so.
`;
}
