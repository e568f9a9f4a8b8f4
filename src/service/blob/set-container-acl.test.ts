import assert from "node:assert/strict";
import { test } from "node:test";
import type { Access } from "../../rules/access.ts";
import { Blobs, bodyWith, refused } from "./blobs.fixture.ts";
import { setContainerAcl } from "./set-container-acl.ts";

const WRITERS = { id: "writers", startMs: null, expiryMs: 4_000_000_000_000, letters: "w" };
const BY_POLICY: Access = {
  kind: "service-sas",
  letters: null,
  policy: { id: "writers", startMs: null, expiryMs: null },
};

function setPolicies(blobs: Blobs, policies: (typeof WRITERS)[]) {
  return setContainerAcl(blobs.context, { ...blobs.use(""), publicAccess: "none", policies });
}

test("a writer that is revoked while its body arrives is refused", async () => {
  const blobs = await Blobs.open();
  await setPolicies(blobs, [WRITERS]);
  await blobs.put("before", "text", { access: BY_POLICY });
  const body = bodyWith(Buffer.alloc(100_000), () => setPolicies(blobs, []));
  await assert.rejects(
    blobs.put("after", body, { access: BY_POLICY }),
    refused("AuthenticationFailed"),
  );
  await assert.rejects(blobs.text("after"), refused("BlobNotFound"));
});

test("invalid policies are refused, and the old ones stay", async () => {
  const blobs = await Blobs.open();
  await setPolicies(blobs, [WRITERS]);
  await assert.rejects(
    setPolicies(blobs, [{ ...WRITERS, letters: "?" }]),
    refused("InvalidXmlNodeValue"),
  );
  await blobs.put("blob", "text", { access: BY_POLICY });
});
