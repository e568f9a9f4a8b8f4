import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { test } from "node:test";
import { CERTIFICATE, CERTIFICATE_KEY } from "../../test/sdk/certificate.ts";
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

test("a key of another type than the certificate's is refused at the start", () => {
  const { privateKey } = generateKeyPairSync("rsa", {
    modulusLength: 2_048,
    privateKeyEncoding: { type: "pkcs8", format: "pem" },
    publicKeyEncoding: { type: "spki", format: "pem" },
  });
  const files: Record<string, string | Buffer> = { "cert.pem": CERTIFICATE, "rsa.pem": privateKey };
  const load = () =>
    loadCertificate({ cert: "cert.pem", key: "rsa.pem", password: null }, (file) =>
      Buffer.from(files[file] ?? ""),
    );
  assert.throws(load, /cannot be used \(the key is that of another certificate\)\. Check that/);
  files["rsa.pem"] = CERTIFICATE_KEY;
  assert.doesNotThrow(load);
});

test("a PFX file with outdated encryption is refused, with a way to convert it", () => {
  const files = { cert: "old.pfx", key: null, password: "p" };
  assert.throws(
    () => loadCertificate(files, () => OLD_PFX),
    /cannot be used \(Unsupported PKCS12 PFX data\)\. If .* convert it: openssl pkcs12 -legacy/,
  );
});

/** Made with `openssl pkcs12 -export -legacy`. */
const OLD_PFX = Buffer.from(
  `MIIDcgIBAzCCAzgGCSqGSIb3DQEHAaCCAykEggMlMIIDITCCAhcGCSqGSIb3DQEHBqCCAggwggIEAgEAMIIB/QYJKoZI
hvcNAQcBMBwGCiqGSIb3DQEMAQYwDgQIc1LD8Ob6JFQCAggAgIIB0JJhbVheZ30Pp+indRgEd31eEleZEYA+uYiZ0ly8
qdQW+/LBBtW7Qq/4Wa7dJx/ZlCFQxyw9A+NanfykaWSV1Gu+mPk/aqrPyK/iY63sLtWBiUBytcYL0JOoii8onQHHgxIO
FzcmvnumBTnbaY71zQ0MePERShkvmJ4uoHn3ARHt0UgwMPq/a2HcfoP1RjSF5xW9y0A0JqY0GnkvA86Vjkn+Auq+rnrD
1AyYAKijklEZBfWBXOMoLLHV3gw0wBamHkw7lYKgxF5T5UubmaJvuomO8dTPQNBB0ZC5eC5m1xE5uKkmJ0aI70Esbr2p
966FRb3XXt62VNmLCG+TGGlVeetTw0YUJ5qEmpr0sBQd1ybOoRJq5TUiUYHEWorj09GlTURbTvI34h9pUhpHGq6k2OJy
uos5iYoi+35ytI1Am2qH8/rpne+X9+UBJdWoEQ9unuJCWlq2g8Pko/Us3I5TWXFBAxIBWVv0UhSbPIZZdwWkkPGsHUJY
iDtCdxSXGO/IBdvUwfF5HTKuDDxEUjdCfA34IvhEdzbBOMODSIRsxnOEmBjUuX8EiJOfVPssio5MtUpJfir0cbfz7BQy
3cqlvR97H2/adk6UyoBXrbBPZF3AMIIBAgYJKoZIhvcNAQcBoIH0BIHxMIHuMIHrBgsqhkiG9w0BDAoBAqCBtDCBsTAc
BgoqhkiG9w0BDAEDMA4ECP2+vFHKc4QNAgIIAASBkHElKq/Rt8PvT1mqK4YiA85YmCEMCiGAPNqexZRXNlN0sK3qqXuh
cXT7gt3Ke97ZK4TDan1DBTNxno0dzHH7BcLLfb4fcJyYlaOkuHs+5mtNHz9PkbbuJyE84GMOKuiIF6ahm8Fnhdyc0wW6
bD/m2lwXVV51TBC70s97th8YrtyVz1vC8T3J7vlbfBrdLQFg8zElMCMGCSqGSIb3DQEJFTEWBBRTILWYRdvrkBZus1ea
CneAaXvLszAxMCEwCQYFKw4DAhoFAAQUVE4TxpkSCBNvpX4wjVmh2l9SkloECAuWqoo6lwVOAgIIAA==`,
  "base64",
);
