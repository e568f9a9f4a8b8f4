import assert from "node:assert/strict";
import { get } from "node:http";
import { test } from "node:test";
import {
  generateQueueSASQueryParameters,
  type QueueClient,
  QueueClient as QueueClientClass,
  QueueSASPermissions,
  StorageSharedKeyCredential,
} from "@azure/storage-queue";
import { accountSas, queueSas } from "./queue-sas.ts";
import { startQueueServer } from "./queue-server.ts";
import { rawRequest } from "./raw-request.ts";
import { forThisFile } from "./server.ts";

const server = await forThisFile(startQueueServer());
let count = 0;

/** Every letter of any SAS of any service. */
const LETTERS = [..."rwdxylacuptfmeoi"];
const HOUR_MS = 3_600_000;

interface Operation {
  readonly name: string;
  readonly method: string;
  /**
   * The path after the account; `QUEUE` stands for the queue, `MESSAGE` for a message with its
   * receipt.
   */
  readonly path: string;
  readonly body?: string;
  /** Letters of which one suffices; "" if no account SAS grants it. */
  readonly account: string;
  readonly type: "s" | "c" | "o";
  readonly service: string;
}

const PROPERTIES = "/?restype=service&comp=properties";
const MESSAGE = "<QueueMessage><MessageText>x</MessageText></QueueMessage>";

function operation(
  name: string,
  request: string,
  type: Operation["type"],
  account: string,
  service: string,
  body?: string,
): Operation {
  const [method = "", path = ""] = request.split(" ");
  return { name, method, path, type, account, service, ...(body !== undefined && { body }) };
}

const OPERATIONS: readonly Operation[] = [
  operation("list queues", "GET /?comp=list", "s", "l", ""),
  operation("get service properties", `GET ${PROPERTIES}`, "s", "r", ""),
  operation(
    "set service properties",
    `PUT ${PROPERTIES}`,
    "s",
    "w",
    "",
    "<StorageServiceProperties />",
  ),
  operation("get service stats", "GET -secondary/?restype=service&comp=stats", "s", "r", ""),
  operation("create queue", "PUT /QUEUE-new", "c", "cw", ""),
  operation("delete queue", "DELETE /QUEUE", "c", "d", ""),
  operation("get metadata", "GET /QUEUE?comp=metadata", "c", "r", "r"),
  operation("set metadata", "PUT /QUEUE?comp=metadata", "c", "w", ""),
  operation("get ACL", "GET /QUEUE?comp=acl", "c", "", ""),
  operation("set ACL", "PUT /QUEUE?comp=acl", "c", "", ""),
  operation("put message", "POST /QUEUE/messages", "o", "a", "a", MESSAGE),
  operation("get messages", "GET /QUEUE/messages", "o", "p", "p"),
  operation("peek messages", "GET /QUEUE/messages?peekonly=true", "o", "r", "r"),
  operation("update message", "PUT /QUEUE/messages/MESSAGE&visibilitytimeout=0", "o", "u", "u"),
  operation("delete message", "DELETE /QUEUE/messages/MESSAGE", "o", "p", "p"),
  operation("clear messages", "DELETE /QUEUE/messages", "o", "d", ""),
];

async function makeQueue(): Promise<QueueClient> {
  const queue = server.client().getQueueClient(`queue-${++count}`);
  await queue.create();
  return queue;
}

/** Requests the operation on a new queue; returns the code of the refusal, or "". */
async function ask(asked: Operation, sasFor: (queue: string) => string): Promise<string> {
  const queue = await makeQueue();
  const { messageId, popReceipt } = await queue.sendMessage("text");
  const path = asked.path
    .replace("QUEUE", queue.name)
    .replace("MESSAGE", `${messageId}?popreceipt=${encodeURIComponent(popReceipt)}`);
  const answer = await rawRequest(server, {
    method: asked.method,
    path: `${path}${path.includes("?") ? "&" : "?"}${sasFor(queue.name)}`,
    signed: false,
    ...(asked.body !== undefined && { body: asked.body }),
  });
  assert.equal(answer.status >= 400, answer.code !== "", `${asked.name}: ${answer.status}`);
  if (answer.code === "" || asked.type === "s") return answer.code;
  const left = (await queue.peekMessages()).peekedMessageItems[0];
  assert.deepEqual([left?.messageText, left?.dequeueCount], ["text", 0], "nothing has happened");
  return answer.code;
}

test("an account SAS grants exactly what its letters say", async () => {
  for (const asked of OPERATIONS) {
    const denied =
      asked.account === "" ? "AuthorizationFailure" : "AuthorizationPermissionMismatch";
    for (const letter of LETTERS) {
      const expected = asked.account.includes(letter) ? "" : denied;
      const found = await ask(asked, () => accountSas(server, letter));
      assert.equal(found, expected, `${asked.name} with ${letter}`);
    }
    const others = LETTERS.filter((letter) => !asked.account.includes(letter)).join("");
    assert.equal(await ask(asked, () => accountSas(server, others)), denied, asked.name);
  }
});

test("an account SAS grants only the services and resource types that it names", async () => {
  for (const asked of OPERATIONS.filter(({ account }) => account !== "")) {
    const all = LETTERS.join("");
    const types = "sco".replace(asked.type, "");
    assert.equal(
      await ask(asked, () => accountSas(server, all, { types })),
      "AuthorizationResourceTypeMismatch",
    );
    assert.equal(await ask(asked, () => accountSas(server, all, { types: asked.type })), "");
    assert.equal(
      await ask(asked, () => accountSas(server, all, { services: "btf" })),
      "AuthorizationServiceMismatch",
    );
  }
});

test("a service SAS grants exactly what its letters say, and nothing on the queue itself", async () => {
  for (const asked of OPERATIONS.filter(
    ({ type, name }) => type !== "s" && name !== "create queue",
  )) {
    const denied =
      asked.service === "" ? "AuthorizationFailure" : "AuthorizationPermissionMismatch";
    for (const letter of LETTERS) {
      const expected = asked.service.includes(letter) ? "" : denied;
      const found = await ask(asked, (queue) => queueSas(server, queue, { letters: letter }));
      assert.equal(found, expected, `${asked.name} with ${letter}`);
    }
    const others = LETTERS.filter((letter) => !asked.service.includes(letter)).join("");
    const found = await ask(asked, (queue) => queueSas(server, queue, { letters: others }));
    assert.equal(found, denied, asked.name);
  }
});

test("a service SAS grants no other queue, and nothing on the account", async () => {
  const letters = LETTERS.join("");
  for (const asked of OPERATIONS) {
    const found = await ask(asked, () => queueSas(server, "other", { letters }));
    assert.equal(found, "AuthenticationFailed", asked.name);
  }
});

test("nothing is granted without credentials", async () => {
  for (const asked of OPERATIONS) {
    assert.equal(await ask(asked, () => ""), "NoAuthenticationInformation", asked.name);
  }
});

test("the SDK works with a SAS as its only credential", async () => {
  const queue = await makeQueue();
  const sas = generateQueueSASQueryParameters(
    {
      queueName: queue.name,
      permissions: QueueSASPermissions.parse("raup"),
      expiresOn: new Date(Date.now() + HOUR_MS),
    },
    new StorageSharedKeyCredential(server.account, server.key),
  );
  const guest = new QueueClientClass(`${queue.url}?${sas}`);
  await guest.sendMessage("one");
  assert.equal((await guest.getProperties()).approximateMessagesCount, 1);
  const [got] = (await guest.receiveMessages()).receivedMessageItems;
  assert.ok(got);
  const { popReceipt } = await guest.updateMessage(got.messageId, got.popReceipt, "two", 0);
  assert.equal((await guest.peekMessages()).peekedMessageItems[0]?.messageText, "two");
  await guest.deleteMessage(got.messageId, popReceipt as string);
});

test("an ACL comes back as it was set, and is replaced as a whole", async () => {
  const queue = await makeQueue();
  const startsOn = new Date(Date.UTC(2026, 0, 2, 3, 4, 5, 678));
  const expiresOn = new Date(Date.UTC(2030, 0, 2));
  const full = { startsOn, expiresOn, permissions: "raup" };
  const done = await queue.setAccessPolicy([
    { id: "all & <more>", accessPolicy: full },
    { id: "bare", accessPolicy: {} },
  ] as never);
  assert.equal(done._response.status, 204);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, [
    { id: "all & <more>", accessPolicy: full },
    { id: "bare", accessPolicy: undefined },
  ]);
  await queue.setAccessPolicy([]);
  assert.deepEqual((await queue.getAccessPolicy()).signedIdentifiers, []);
});

test("a stored policy grants what its SAS omits, and its removal revokes at once", async () => {
  const queue = await makeQueue();
  await queue.sendMessage("text");
  const policy = (permissions: string) => {
    const startsOn = new Date(server.clock.now());
    const expiresOn = new Date(server.clock.now() + HOUR_MS);
    return queue.setAccessPolicy([
      { id: "some", accessPolicy: { startsOn, expiresOn, permissions } },
    ]);
  };
  const sas = queueSas(server, queue.name, { policy: "some" });
  const peek = async () => {
    const path = `/${queue.name}/messages?peekonly=true&${sas}`;
    return (await rawRequest(server, { path, signed: false })).code;
  };
  assert.equal(await peek(), "AuthenticationFailed");
  await policy("r");
  assert.equal(await peek(), "");
  await policy("aup");
  assert.equal(await peek(), "AuthorizationPermissionMismatch");
  await policy("r");
  server.clock.advance(HOUR_MS);
  assert.equal(await peek(), "AuthenticationFailed");
  await policy("raup");
  assert.equal(await peek(), "");
  await queue.setAccessPolicy([]);
  assert.equal(await peek(), "AuthenticationFailed");
});

test("a SAS that repeats a field of its stored policy is refused", async () => {
  const queue = await makeQueue();
  const expiresOn = new Date(server.clock.now() + HOUR_MS);
  await queue.setAccessPolicy([{ id: "until", accessPolicy: { expiresOn } }] as never);
  const peek = async (expiry: string) => {
    const sas = queueSas(server, queue.name, { policy: "until", letters: "r", expiry });
    const path = `/${queue.name}/messages?peekonly=true&${sas}`;
    return (await rawRequest(server, { path, signed: false })).code;
  };
  assert.equal(await peek(""), "");
  assert.equal(await peek("2099-01-01"), "AuthenticationFailed");
});

test("a host that names the account reaches the same queue", async () => {
  const queue = await makeQueue();
  await queue.sendMessage("one");
  const { port } = new URL(server.url);
  const path = `/${queue.name}/messages?peekonly=true&${accountSas(server, "r")}`;
  for (const name of ["queue.localhost", "queue.core.windows.net"]) {
    const headers = { Host: `${server.account}.${name}:${port}` };
    const text = await new Promise<string>((resolve, reject) => {
      get({ host: "127.0.0.1", port, path, headers }, (answer) => {
        let body = "";
        answer.setEncoding("utf8").on("data", (part) => {
          body += part;
        });
        answer.on("end", () => resolve(body));
      }).on("error", reject);
    });
    assert.match(text, /<MessageText>one<\/MessageText>/);
  }
});
