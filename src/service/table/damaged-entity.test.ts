import assert from "node:assert/strict";
import { test } from "node:test";
import { Fault } from "../../base/fault.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { IfMatch } from "../../rules/entity-etag.ts";
import { DamagedStore } from "../../store/damaged-store.fixture.ts";
import { ForgettingStore } from "../../store/forgetting-store.fixture.ts";
import type { EntityWrite } from "./apply-write.ts";
import { int, Tables } from "./tables.fixture.ts";
import { writeEntity } from "./write-entity.ts";

const PLACE = { partition: "p", row: "00000" };
const SOME = { place: PLACE, properties: [int("n", 7)] };

/** A table whose only entity is damaged. */
async function damagedTable() {
  let damaged: DamagedStore | null = null;
  const tables = await Tables.open({
    inMemory: (store) => {
      damaged = new DamagedStore(store);
      return new ForgettingStore(damaged);
    },
  });
  await tables.fill("p", 1);
  const all = key(SPACE.entity);
  const [entity] = await tables.store.read((view) => view.range(all, keyAfter(all), { limit: 1 }));
  (damaged as unknown as DamagedStore).damage(entity?.key ?? assert.fail("no entity"));
  const write = (one: EntityWrite) => writeEntity(tables.context, { ...tables.asked, write: one });
  return { tables, write };
}

const refused = (code: string) => (error: unknown) => error instanceof Fault && error.code === code;

test("an entity whose record is damaged can be replaced", async () => {
  const ifMatch: IfMatch = "*";
  for (const one of [{ kind: "insertOrReplaceEntity" }, { kind: "updateEntity", ifMatch }]) {
    const { tables, write } = await damagedTable();
    await write({ ...SOME, ...one } as EntityWrite);
    assert.equal((await tables.query()).entities.length, 1);
  }
});

test("an entity whose record is damaged can be deleted", async () => {
  const { tables, write } = await damagedTable();
  await write({ kind: "deleteEntity", place: PLACE, ifMatch: "*" });
  assert.equal(await tables.entities(), 0);
});

test("a damaged entity still exists, has another ETag, and cannot be merged", async () => {
  const { write } = await damagedTable();
  await assert.rejects(write({ ...SOME, kind: "insertEntity" }), refused("EntityAlreadyExists"));
  await assert.rejects(
    write({ kind: "deleteEntity", place: PLACE, ifMatch: 5n }),
    refused("UpdateConditionNotSatisfied"),
  );
  const merge = { ...SOME, kind: "mergeEntity", ifMatch: "*" } as const;
  await assert.rejects(write(merge), { kind: "damaged" });
});
