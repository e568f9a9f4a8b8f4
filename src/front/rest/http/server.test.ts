import assert from "node:assert/strict";
import { request } from "node:http";
import { networkInterfaces } from "node:os";
import { Fault } from "../../../base/fault.ts";
import { StoreError, type StoreErrorKind } from "../../../store/store.ts";
import { HEALTHY } from "../../health.ts";
import { DONE, GET, type Handle, listen, NOON, put, testOnBoth } from "./listener.fixture.ts";

const GUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

function get(...lines: string[]): string {
  return `${["GET /a/c/b HTTP/1.1", "Host: x", ...lines].join("\r\n")}\r\n\r\n`;
}

const ok: Handle = () => ({ status: 200, headers: ["ETag", '"0x1"'], body: "hello" });

testOnBoth("every answer has request id, version, date and server", async (t) => {
  const running = await listen(t, ok);
  const client = running.connect();
  const first = await client.send(GET).answer();
  assert.equal(first.status, 200);
  assert.equal(first.body, "hello");
  assert.equal(first.headers.get("etag"), '"0x1"');
  assert.equal(first.headers.get("server"), "Lazuli/1.2.3");
  assert.equal(first.headers.get("date"), "Tue, 01 Jan 2030 12:00:00 GMT");
  assert.equal(first.headers.get("x-ms-version"), "2026-04-06");
  assert.match(first.headers.get("x-ms-request-id") as string, GUID);
  running.clock.advance(1_000);
  const second = await client.send(GET).answer();
  assert.equal(second.headers.get("date"), "Tue, 01 Jan 2030 12:00:01 GMT");
  assert.notEqual(
    second.headers.get("x-ms-request-id"),
    first.headers.get("x-ms-request-id"),
    "request ids never repeat",
  );
});

testOnBoth(
  "the client's request id comes back if it is visible ASCII of up to 1,024 characters",
  async (t) => {
    const running = await listen(t, ok);
    const client = running.connect();
    for (const [id, echoed] of [
      ["my-id", "my-id"],
      ["x".repeat(1_024), "x".repeat(1_024)],
      ["x".repeat(1_025), undefined],
      ["a b", undefined],
      ["caf\u00e9", undefined],
    ]) {
      const { headers } = await client.send(get(`x-ms-client-request-id: ${id}`)).answer();
      assert.equal(headers.get("x-ms-client-request-id"), echoed);
    }
  },
);

testOnBoth(
  "any well-formed version is accepted and repeated; others are refused by name",
  async (t) => {
    const versions: string[] = [];
    const running = await listen(t, (request) => {
      versions.push(request.version);
      return DONE;
    });
    const client = running.connect();
    for (const version of ["2009-09-19", "2026-04-06", "2031-12-31"]) {
      const { status, headers } = await client.send(get(`x-ms-version: ${version}`)).answer();
      assert.equal(status, 201);
      assert.equal(headers.get("x-ms-version"), version);
    }
    assert.deepEqual(versions, ["2009-09-19", "2026-04-06", "2031-12-31"]);
    for (const version of ["latest", "2020-1-1", "2020-01-01x", "2020-01-01, 2020-01-01", ""]) {
      const { status, headers, body } = await client.send(get(`x-ms-version: ${version}`)).answer();
      assert.equal(status, 400);
      assert.equal(headers.get("x-ms-error-code"), "InvalidHeaderValue");
      assert.match(body, /<HeaderName>x-ms-version<\/HeaderName>/);
    }
    assert.equal(versions.length, 3, "refused before the service sees it");
  },
);

testOnBoth("a request that the listener refuses is answered in the service's format", async (t) => {
  const running = await listen(t, () => assert.fail("was asked"));
  const client = running.connect();
  const target = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
  const badQuery = await client.send(target("/a?comp=%zz")).answer();
  assert.equal(badQuery.headers.get("x-ms-error-code"), "InvalidQueryParameterValue");
  const badName = await client.send(target("/a?%ff=1")).answer();
  assert.equal(badName.headers.get("x-ms-error-code"), "InvalidUri");
  const verb = await client.send("PROPFIND / HTTP/1.1\r\nHost: x\r\n\r\n").answer();
  assert.equal(verb.status, 405);
  assert.equal(verb.headers.get("x-ms-error-code"), "UnsupportedHttpVerb");
});

testOnBoth("a Fault is answered in the service's format", async (t) => {
  const running = await listen(t, () => {
    throw new Fault("LeaseIdMissing");
  });
  const client = running.connect();
  const { status, headers, body } = await client.send(GET).answer();
  assert.equal(status, 412);
  assert.equal(headers.get("x-ms-error-code"), "LeaseIdMissing");
  assert.equal(headers.get("content-type"), "application/xml");
  assert.match(body, new RegExp(`RequestId:${headers.get("x-ms-request-id")}`));
  assert.deepEqual(running.failures, [], "a refusal is no failure");
});

testOnBoth(
  "an unexpected error is logged with its request, and the client gets no details",
  async (t) => {
    let thrown: unknown;
    const running = await listen(t, () => {
      throw thrown;
    });
    const client = running.connect();
    const cases: [unknown, number, string][] = [
      [new TypeError("secret detail"), 500, "InternalError"],
      ["secret detail", 500, "InternalError"],
      ...(
        [
          ["full", 507, "InsufficientStorage"],
          ["broken", 503, "ServerBusy"],
          ["unreachable", 503, "ServerBusy"],
          ["unknown", 500, "InternalError"],
          ["damaged", 500, "InternalError"],
        ] as [StoreErrorKind, number, string][]
      ).map(([kind, status, code]): [unknown, number, string] => [
        new StoreError(kind, "secret detail"),
        status,
        code,
      ]),
    ];
    for (const [error, status, code] of cases) {
      thrown = error;
      const answer = await client.send(GET).answer();
      assert.equal(answer.status, status);
      assert.equal(answer.headers.get("x-ms-error-code"), code);
      assert.doesNotMatch(answer.head + answer.body, /secret|TypeError|StoreError|\.js/);
      assert.deepEqual(running.failures.pop(), [answer.headers.get("x-ms-request-id"), error]);
    }
  },
);

testOnBoth("a header that would break out of its line is never sent", async (t) => {
  let value = "";
  const running = await listen(t, () => ({
    status: 200,
    headers: ["x-ms-meta-a", value],
    body: "",
  }));
  const client = running.connect();
  for (value of ["a\r\nx-evil: 1", "a\nb", "a\rb", "a\0b", "\u20ac"]) {
    const { status, head } = await client.send(GET).answer();
    assert.equal(status, 500);
    assert.doesNotMatch(head, /evil|meta/);
    assert.equal(running.failures.length, 1);
    running.failures.pop();
  }
  value = "caf\u00e9";
  assert.equal((await client.send(GET).answer()).headers.get("x-ms-meta-a"), value);
});

testOnBoth("a refusal that cannot be rendered closes its connection, and no other", async (t) => {
  const running = await listen(t, ok, {
    options: {
      service: {
        name: "blob",
        handle: (request) =>
          request.path === "/a" ? Promise.resolve(DONE) : Promise.reject(new Error("broken")),
        renderFault() {
          throw new Error("more broken");
        },
      },
    },
  });
  const other = running.connect();
  assert.equal(await running.connect().send(GET).closed, "");
  assert.equal(running.failures.length, 2);
  assert.equal((await other.send("GET /a HTTP/1.1\r\nHost: x\r\n\r\n").answer()).status, 201);
});

testOnBoth(
  "Content-Length counts bytes; without a body it is 0, or missing where HTTP forbids it",
  async (t) => {
    const answers = [
      { status: 200, headers: [], body: "\u20ac" },
      { status: 200, headers: [], body: Buffer.from([1, 2]) },
      { status: 201, headers: [], body: null },
      { status: 204, headers: [], body: "none" },
      { status: 304, headers: [], body: "none" },
    ];
    const running = await listen(t, () => answers.shift() ?? assert.fail());
    const client = running.connect();
    for (const length of ["3", "2", "0", undefined, undefined]) {
      assert.equal((await client.send(GET).answer()).headers.get("content-length"), length);
    }
    assert.equal(client.received, "");
  },
);

testOnBoth(
  "the answer to a HEAD has no body, and the length that its handler states",
  async (t) => {
    const answers = [
      { status: 200, headers: ["Content-Length", "4096"], body: null },
      { status: 404, headers: [], body: "an error" },
    ];
    const running = await listen(t, () => answers.shift() ?? assert.fail());
    const client = running.connect();
    const head = "HEAD /a/c/b HTTP/1.1\r\nHost: x\r\n\r\n";
    assert.match(await client.send(head).until(/\r\n\r\n/), /Content-Length: 4096\r\n/);
    assert.doesNotMatch(await client.send(head).until(/\r\n\r\n/), /Content-Length/);
    assert.equal(
      (await client.send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n").answer()).body,
      "ok\n",
    );
  },
);

testOnBoth(
  "/healthz answers before all checks, with 503 if the process cannot serve",
  async (t) => {
    let isServing = true;
    const running = await listen(t, () => assert.fail("was asked"), {
      options: { health: () => ({ ...HEALTHY, isServing }) },
    });
    const client = running.connect();
    const health = "GET /healthz HTTP/1.1\r\nHost: x\r\nx-ms-version: none\r\n\r\n";
    assert.equal((await client.send(health).answer()).status, 200);
    assert.equal((await client.send(health.replace("z ", "z?at=1 ")).answer()).status, 200);
    assert.match(await client.send(health.replace("GET", "HEAD")).until(/\r\n\r\n/), / 200 OK/);
    isServing = false;
    assert.equal((await client.send(health).answer()).status, 503);
  },
);

testOnBoth("on a full disk /healthz is 200 and says so, and 503 with ?for=writes", async (t) => {
  let isFull = false;
  const running = await listen(t, () => assert.fail("was asked"), {
    options: { health: () => ({ ...HEALTHY, isFull }) },
  });
  const client = running.connect();
  const health = "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n";
  const forWrites = health.replace("z ", "z?for=writes ");
  assert.equal((await client.send(health).answer()).body, "ok\n");
  assert.equal((await client.send(forWrites).answer()).status, 200);
  isFull = true;
  const { status, body } = await client.send(health).answer();
  assert.deepEqual([status, body], [200, "full: reads and deletes only\n"]);
  assert.equal((await client.send(forWrites).answer()).status, 503);
});

testOnBoth("without its database a server is alive, and not ready: it says why", async (t) => {
  let outage: string | null = null;
  const running = await listen(t, () => assert.fail("was asked"), {
    options: { health: () => ({ ...HEALTHY, outage }) },
  });
  const client = running.connect();
  const ask = async (query: string) => {
    const { status, body } = await client
      .send(`GET /healthz${query} HTTP/1.1\r\nHost: x\r\n\r\n`)
      .answer();
    return [status, body];
  };
  assert.deepEqual(await ask("?for=requests"), [200, "ok\n"]);
  outage = "the database is away";
  const text = "not ready: the database is away\n";
  assert.deepEqual(await ask(""), [200, text]);
  assert.deepEqual(await ask("?for=requests"), [503, text]);
  assert.deepEqual(await ask("?for=writes"), [503, text]);
});

testOnBoth("a handler sees the request as it was sent", async (t) => {
  const running = await listen(t, (asked) => {
    assert.equal(asked.method, "PUT");
    assert.equal(asked.target, "/a/c%2Fb?Comp=x%20y&prefix=");
    assert.equal(asked.path, "/a/c%2Fb");
    assert.equal(asked.query.get("comp"), "x y");
    assert.equal(asked.headers.get("x-ms-meta-a"), "1");
    assert.equal(asked.headers.get("constructor"), undefined);
    assert.equal(asked.headers.get("__proto__"), undefined);
    assert.deepEqual(asked.headers.raw.slice(-2), ["X-MS-Meta-A", "1"]);
    assert.equal(asked.remoteAddress, "127.0.0.1");
    assert.equal(asked.secure, false);
    assert.equal(asked.receivedMs, NOON);
    assert.equal(asked.body.length, 0);
    return DONE;
  });
  const client = running.connect();
  const rest = " HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nX-MS-Meta-A: 1\r\n\r\n";
  assert.equal((await client.send(`PUT /a/c%2Fb?Comp=x%20y&prefix=${rest}`).answer()).status, 201);
  // As clients send it to a proxy.
  const whole = `PUT http://x:1/a/c%2Fb?Comp=x%20y&prefix=${rest}`;
  assert.equal((await client.send(whole).answer()).status, 201);
});

testOnBoth("IPv4 clients of an IPv6 socket have their IPv4 address", async (t) => {
  if (!hasIpv6()) return t.skip("this machine has no IPv6");
  const seen: string[] = [];
  const handle: Handle = (asked) => {
    seen.push(asked.remoteAddress);
    return DONE;
  };
  const running = await listen(t, handle, { options: { host: "::" } });
  assert.equal(running.listener.origin, `http://[::]:${running.listener.port}`);
  await running.connect().send(GET).answer();
  await new Promise((resolve, reject) => {
    request({ host: "::1", port: running.listener.port, agent: false }, resolve)
      .on("error", reject)
      .end();
  });
  assert.deepEqual(seen, ["127.0.0.1", "::1"]);
});

function hasIpv6(): boolean {
  return Object.values(networkInterfaces()).some((each) =>
    each?.some(({ address }) => address === "::1"),
  );
}

testOnBoth("listening on a port in use rejects with EADDRINUSE", async (t) => {
  const { listener } = await listen(t, ok);
  await assert.rejects(listen(t, ok, { options: { port: listener.port } }), {
    code: "EADDRINUSE",
  });
});

testOnBoth("every answer is logged once, and no log has a secret in it", async (t) => {
  const running = await listen(t, async (asked) => {
    await asked.body.drain(() => {});
    return { status: 202, headers: ["x-ms-copy-source", "http://x/s?sig=S3"], body: "abc" };
  });
  const client = running.connect();
  const lines = [
    "Authorization: SharedKey acct:S1==",
    "x-ms-copy-source: https://x/y?sv=1&sig=S2",
    "x-ms-encryption-key: S4",
    "x-ms-meta-a: plain",
  ];
  const head = put(2, ...lines).replace("/a/c/b", "/a/c/b?comp=x&sig=S0%3D");
  const { headers } = await client.send(`${head}hi`).answer();
  const found = running.outcomes.map(({ details, ...outcome }) => {
    // The request as it was sent has secrets, so it is behind a function that no log calls.
    const { sent, headers: told, ...logged } = details();
    assert.equal(typeof sent, "function");
    assert.match(told().join(), /x-ms-meta-a: plain/);
    assert.doesNotMatch(told().join(), /S[0-9]|authorization/i);
    return { ...outcome, ...logged };
  });
  assert.deepEqual(found, [
    {
      agent: null,
      conditions: [],
      leaseId: null,
      etag: null,
      atMs: NOON,
      tookMs: 0,
      service: "blob",
      operation: "Unknown",
      account: null,
      container: null,
      auth: "none",
      code: null,
      clientRequestId: null,
      batchId: null,
      requestId: headers.get("x-ms-request-id"),
      remoteAddress: "127.0.0.1",
      method: "PUT",
      target: "/a/c/b?comp=x&sig=[redacted]",
      status: 202,
      requestBytes: 2,
      responseBytes: 3,
      aborted: false,
    },
  ]);
  const debug = running.debug.join("\n");
  assert.match(debug, /x-ms-meta-a: plain/);
  assert.match(debug, /SharedKey acct:\[redacted\]/);
  assert.doesNotMatch(debug, /S[0-4]/);
});
