import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../../base/fault.ts";
import { StoreError } from "../../../store/store.ts";
import { cannotVerifyAnswer } from "./cannot-verify.ts";
import { copyFailure } from "./copy-failure.ts";

test("a failed copy reports a status and a code of the service, never an internal code", () => {
  for (const [error, expected] of [
    [new Fault("SourceConditionNotMet"), "412 ConditionNotMet"],
    [new Fault("RequestBodyTooLarge"), "413 RequestBodyTooLarge"],
    [new Fault("CannotVerifyCopySource"), "500 CannotVerifyCopySource"],
    [cannotVerifyAnswer(404, "BlobNotFound", "gone"), "404 BlobNotFound"],
    [cannotVerifyAnswer(403, "", "no"), "403 CannotVerifyCopySource"],
    [cannotVerifyAnswer(503, 'Bus"y', "no"), "503 CannotVerifyCopySource"],
    [new StoreError("full", "no space"), "507 InsufficientStorage"],
    [new Error("a bug"), "500 InternalError"],
  ] as const) {
    assert.equal(copyFailure(error), `${expected} "Copy failed when reading the source."`);
  }
});
