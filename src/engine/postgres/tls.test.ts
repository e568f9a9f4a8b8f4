import assert from "node:assert/strict";
import { test } from "node:test";
import { freePort } from "../../../test/command/free-ports.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../../test/sdk/certificate.ts";
import { k, put, read, v } from "../../store/opened-store.contract.ts";
import { readAddress } from "./address.ts";
import { PostgresServer, skipWithoutOwnPostgres } from "./postgres-server.fixture.ts";
import { openPostgresStore } from "./store.ts";

const skip = skipWithoutOwnPostgres() ?? false;

test("records are reached with TLS, and only at a server with the right certificate", {
  skip,
}, async (t) => {
  const server = await PostgresServer.start();
  t.after(() => server.remove());
  const port = await freePort();
  const tls = await server.listenWithTls("localhost", port, CERTIFICATE, CERTIFICATE_KEY);
  const open = (query: string, url = tls.url) => openPostgresStore(readAddress(`${url}?${query}`));
  const trusting = `sslrootcert=${tls.certificate}`;
  for (const query of ["sslmode=require", `sslmode=verify-full&${trusting}`]) {
    const store = await open(query);
    await put(store, k(1), v(query));
    assert.equal(`${await read(store, k(1))}`, query);
    await store.close();
  }
  await assert.rejects(open("sslmode=verify-full"), /self-signed certificate/);
  await assert.rejects(open("sslmode=verify-ca"), /self-signed certificate/);
  const elsewhere = tls.url.replace("localhost", "127.0.0.2");
  await assert.rejects(open(`sslmode=verify-full&${trusting}`, elsewhere), /does not match/);
  await (await open(`sslmode=verify-ca&${trusting}`, elsewhere)).close();
});
