import { formatProperties } from "../../base/edm.ts";
import { Fault } from "../../base/fault.ts";
import { OWNER } from "../../rules/access.ts";
import type { TableContext } from "../../service/table/context.ts";
import { createTable } from "../../service/table/create-table.ts";
import { readEntity, readTable, type Table } from "../../service/table/records.ts";
import { setTableAcl } from "../../service/table/set-table-acl.ts";
import { type WriteEntity, writeEntity } from "../../service/table/write-entity.ts";
import { isWanted } from "./same.ts";
import { type EntitySeed, reasonOf, type TableSeed } from "./seed-document.ts";

/** Makes tables, and entities that are missing or differ. */
export class TableSeeding {
  readonly #context: TableContext;
  readonly #account: string;

  constructor(context: TableContext, account: string) {
    this.#context = context;
    this.#account = account;
  }

  async *seed({ name, policies, entities }: TableSeed): AsyncGenerator<boolean> {
    const asked = { at: { account: this.#account, table: name }, access: OWNER, keyRange: null };
    const read = () => this.#context.store.read((view) => readTable(view, asked.at));
    const isNew = (await read()) === null;
    if (isNew) await createTable(this.#context, asked);
    const table = (await read()) as Table;
    const hasOthers = isWanted(policies, table.policies);
    if (hasOthers) await setTableAcl(this.#context, { ...asked, policies });
    yield isNew || hasOthers;
    for (const entity of entities) {
      const isOther = await this.#isOther(table, entity);
      if (isOther) await this.#write(asked, entity);
      yield isOther;
    }
  }

  /** Writes an entity. A refusal names the place of the entity in the seed. */
  async #write(
    asked: Omit<WriteEntity, "write">,
    { fields, ...entity }: EntitySeed,
  ): Promise<void> {
    const write = { kind: "insertOrReplaceEntity", ...entity } as const;
    try {
      await writeEntity(this.#context, { ...asked, write });
    } catch (error) {
      if (!(error instanceof Fault)) throw error;
      throw fields.problem([], `the service refuses it: ${reasonOf(error)}`);
    }
  }

  async #isOther(table: Table, { place, properties }: EntitySeed): Promise<boolean> {
    const old = await this.#context.store.read((view) => readEntity(view, table, place));
    return old?.properties !== formatProperties(properties);
  }
}
