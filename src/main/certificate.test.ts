import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { loadCertificate } from "./certificate.ts";
import { StartError } from "./start-error.ts";

const PEM_KEY = generateKeyPairSync("ec", {
  namedCurve: "P-256",
  privateKeyEncoding: { type: "pkcs8", format: "pem" },
  publicKeyEncoding: { type: "spki", format: "pem" },
}).privateKey;
const FILES: Record<string, string> = {
  "cert.pem": "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n",
  "key.pem": PEM_KEY,
  "x.pfx": "no such format",
};
const read = (file: string) => Buffer.from(FILES[file] ?? "");

function refusal(cert: string, key: string | null): string {
  let message = "";
  assert.throws(
    () => loadCertificate({ cert, key, password: null }, read),
    (error) => {
      assert.ok(error instanceof StartError);
      message = error.message;
      return true;
    },
  );
  return message;
}

test("a certificate that does not work is refused at the start, in one line", () => {
  assert.match(refusal("cert.pem", null), /^cert\.pem is a PEM certificate without its key.*--key/);
  assert.match(refusal("cert.pem", "key.pem"), /^The certificate cert\.pem cannot be used \(.*\)/);
  assert.match(refusal("x.pfx", null), /^The certificate x\.pfx cannot be used \(.*\)/);
});
