import assert from "node:assert/strict";
import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request } from "node:https";
import { connect } from "node:tls";
import type { RestRequest, RestResponse } from "./exchange.ts";
import { LARGE_BYTES, listen, testOnBoth } from "./listener.fixture.ts";

/** For localhost and 127.0.0.1, until 2126. Used by nothing but these tests. */
const CERT = Buffer.from(`-----BEGIN CERTIFICATE-----
MIIBnDCCAUGgAwIBAgIUQ1v4rtZHnSwWnquZ7EXDVnH8TRcwCgYIKoZIzj0EAwIw
FDESMBAGA1UEAwwJbG9jYWxob3N0MCAXDTI2MTExNjAyNDUyNVoYDzIxMjYxMDIz
MDI0NTI1WjAUMRIwEAYDVQQDDAlsb2NhbGhvc3QwWTATBgcqhkjOPQIBBggqhkjO
PQMBBwNCAATd7Cnk/VTSEo//93ReixtbucLTWBPYnPDWZNiRDdHs/r9Vof6ZkeTe
5lUYWFPW02lNwpQhtJRCGwjzamj+EAsro28wbTAdBgNVHQ4EFgQUEh02PeHl5jyW
XWl5SjdfRTbvD5gwHwYDVR0jBBgwFoAUEh02PeHl5jyWXWl5SjdfRTbvD5gwDwYD
VR0TAQH/BAUwAwEB/zAaBgNVHREEEzARgglsb2NhbGhvc3SHBH8AAAEwCgYIKoZI
zj0EAwIDSQAwRgIhAKWD8RHtvaCAEEFkhQHwOMXfmnkfwkkE7kchlr9VSjyvAiEA
y34Ln/k+K7gk8r0OqXJ7wuP3kezlk0IXtFw/kWrTLwU=
-----END CERTIFICATE-----
`);
const KEY = Buffer.from(`-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgzqhp72iCoC8g++DN
hth8+EdvcvWafuOxcpTPvt5B2p+hRANCAATd7Cnk/VTSEo//93ReixtbucLTWBPY
nPDWZNiRDdHs/r9Vof6ZkeTe5lUYWFPW02lNwpQhtJRCGwjzamj+EAsr
-----END PRIVATE KEY-----
`);
/** The same two, with the password "secret". */
const PFX = Buffer.from(
  `MIIELAIBAzCCA+IGCSqGSIb3DQEHAaCCA9MEggPPMIIDyzCCAoIGCSqGSIb3DQEHBqCCAnMwggJvAgEAMIICaAYJKoZIhvcN
AQcBMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAgMDQstBNMnzgICCAAwDAYIKoZIhvcNAgkFADAdBglghkgBZQME
ASoEEKwihz1RyF86bbsFBXpI036AggIANSq96qdL212twyRhDict6zLydqN45J7KVqSnKqSvCGekXlpHKFpajRTdkMGM9a1U
1qgJK9Hy0gWVFQWwweBtX7PAvcdIPK+ebi+uTEJmTG95rtLEdj2wX1bQ4pkNH5k8ZyRkPujRfPPB82BkkXAH+aDoT5a4YyBA
lj2qMWvjtvmlCtSUti3efzELCy4v1LPajP3Dgnii/wqzQXn+3SNgQvDQF1Pgr+NN75uNNSuVmcl9s0M1sXqiZNXEJWcDgiAK
fp5PvhP3tRlGhcdbZBWjSQFm38VIwnsTx1qwU7uOYsntMhrrXTLf7Zjb0a4QgiA2et7u0Ql3Gfni2vKHbpOSKTbNIofqTeLq
qxUeu9GA4552ogVUYZjis+G17NDAXiqIYRtvKeMQh1uauqF5ZI1vWIlaT4OQGha69yxvsfywNjIT05LZfCUkXHCU6NoZ1WxO
kTKerj33V66e1BVF/FVorZ/L/3KY19lbC08AE8wGmAV77TfVNsZ/h8ZX+zGrDVBNiLwhyqAPL8IU9gLSv7AyRHOB7bUUoSg+
i1LlVry1Bs2Rd1LBJhf800BWUoQxwnsjU/aqsosgfpZvDq99F206R5CweYvyIUTN8rG0SL700gi7csYJ17zpLsJhitBKE2NQ
5UpwtXUoeqxJ0WRXO8E5NbpizxNLkcAtmTzNu0aq8AQwggFBBgkqhkiG9w0BBwGgggEyBIIBLjCCASowggEmBgsqhkiG9w0B
DAoBAqCB7zCB7DBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQITgcdVuNFi44CAggAMAwGCCqGSIb3DQIJBQAwHQYJ
YIZIAWUDBAEqBBDCw1pc92GOZd57jyi673+xBIGQ4oJMJIWb4efGi2xNP7Wl9HU11/WvwVChExG3GsQR4eio/kLd4Jk5X0qX
Tvn1eM3J3x65A3rQQQ5JfgdV7dnjWZnL2xhuc4Z3mI86TrzI2tMGk80URiads7Poseaud/t1zsE3GIIV3EwCgFD/4oT1RwGk
aQxPSM6cTy+dPt9EWFkvcCqDwZ5EO+TnPV3i9MqsMSUwIwYJKoZIhvcNAQkVMRYEFBqrBPuZ+bLa0SAneVBl3TiJ/34IMEEw
MTANBglghkgBZQMEAgEFAAQgdu5BTnLYHJYYFeI2OctHjxMJCbYUPWnZ6q8W7i7CnkYECEM/9kEVq2cYAgIIAA==`,
  "base64",
);

function call(port: number, body: Buffer): Promise<{ answer: IncomingMessage; bytes: Buffer }> {
  return new Promise((resolve, reject) => {
    const options = { host: "127.0.0.1", port, method: "PUT", ca: CERT, agent: false };
    request(options, (answer) => {
      const parts: Buffer[] = [];
      answer.on("data", (part: Buffer) => parts.push(part)).on("error", reject);
      answer.on("end", () => resolve({ answer, bytes: Buffer.concat(parts) }));
    })
      .on("error", reject)
      .end(body);
  });
}

async function echo({ body, secure }: RestRequest): Promise<RestResponse> {
  assert.equal(secure, true);
  const parts: Buffer[] = [];
  await body.drain((part) => {
    parts.push(part);
  });
  return { status: 200, headers: [], body: Buffer.concat(parts) };
}

testOnBoth("HTTPS works with a certificate in PEM and in PFX", async (t) => {
  const pem = { cert: CERT, key: KEY };
  const pfx = { pfx: PFX, passphrase: "secret" };
  for (const tls of [pem, pfx]) {
    const { listener, failures } = await listen(t, echo, { options: { tls } });
    assert.equal(listener.origin, `https://127.0.0.1:${listener.port}`);
    const sent = Buffer.alloc(LARGE_BYTES, "0123456789");
    const { answer, bytes } = await call(listener.port, sent);
    assert.equal(answer.statusCode, 200);
    assert.ok(bytes.equals(sent));
    await listener.drain();
    assert.deepEqual(failures, []);
  }
});

testOnBoth("connections that have not begun to speak TLS do not delay a drain", async (t) => {
  const limits = { headersMs: 3_600_000, drainMs: 3_600_000 };
  const tls = { cert: CERT, key: KEY };
  const running = await listen(t, echo, { options: { tls }, limits });
  const client = running.connect();
  await once(client.socket, "connect");
  // Once this one is answered, the server has accepted the one before.
  await call(running.listener.port, Buffer.from("hello"));
  await running.listener.drain();
  assert.equal(await client.closed, "");
});

testOnBoth("connections that have not begun to speak TLS make room for others", async (t) => {
  const limits = { headersMs: 3_600_000, connectionsMax: 2 };
  const running = await listen(t, echo, { options: { tls: { cert: CERT, key: KEY } }, limits });
  const bare = [running.connect(), running.connect(), running.connect()];
  for (let time = 0; time < 3; time++) {
    const { bytes } = await call(running.listener.port, Buffer.from("hello"));
    assert.equal(String(bytes), "hello");
  }
  for (const { closed } of bare) assert.equal(await closed, "");
});

testOnBoth("TLS before 1.2 and plain HTTP are refused", async (t) => {
  const running = await listen(t, echo, { options: { tls: { cert: CERT, key: KEY } } });
  const old = connect({
    port: running.listener.port,
    ca: CERT,
    minVersion: "TLSv1",
    maxVersion: "TLSv1.1",
    ciphers: "DEFAULT@SECLEVEL=0",
  });
  await assert.rejects(
    new Promise((resolve, reject) => {
      old.on("secureConnect", resolve).on("error", reject);
    }),
  );
  const plain = running.connect().send("GET / HTTP/1.1\r\nHost: x\r\n\r\n");
  assert.doesNotMatch(await plain.closed, /HTTP/);
});
