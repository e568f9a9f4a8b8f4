import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { added, format, orNull, text } from "../../base/fields.ts";
import { aclTexts, controlOf } from "../../rules/posix-acl.fixture.ts";
import { storedAccessControl } from "./access-control-field.ts";

const record = format(1, { name: text, control: added(orNull(storedAccessControl), null) });

test("a record gives back every access control that it was written with", () => {
  const ids = ["a", "0c0ffee0-0000-4000-8000-00000000000a", "$superuser"];
  const texts = fc.tuple(aclTexts(ids), fc.option(aclTexts(ids, "default:")));
  fc.assert(
    fc.property(texts, fc.boolean(), fc.constantFrom(...ids), ([access, more], isSticky, owner) => {
      const control = controlOf(more === null ? access : `${access},${more}`, { isSticky, owner });
      assert.deepEqual(record.decode(record.encode({ name: "n", control })), {
        name: "n",
        control,
      });
    }),
  );
});

test("an older record has none", () => {
  const older = format(1, { name: text }).encode({ name: "n" });
  assert.deepEqual(record.decode(older), { name: "n", control: null });
});
