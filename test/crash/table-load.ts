import { randomInt } from "node:crypto";
import { AzureNamedKeyCredential, TableClient, type TransactionAction } from "@azure/data-tables";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import { CLIENT_OPTIONS } from "../sdk/table-server.ts";
import type { WholeServerProcess } from "./server-process.ts";
import { type Change, describeBytes, StateWriter, type Subject } from "./state-writer.ts";

const ROWS = 30;
const BATCH_MAX = 12;
const VALUE_LENGTH_MAX = 8_000;

/** Values by row key. */
type Rows = ReadonlyMap<string, string>;

/** A partition, changed by single entities and by batches. */
class PartitionSubject implements Subject<Rows> {
  readonly name: string;

  constructor(name: string) {
    this.name = name;
  }

  nextChange(before: Rows, server: WholeServerProcess): Change<Rows> {
    const table = tableAt(server);
    const next = new Map(before);
    const row = String(randomInt(ROWS));
    if (before.has(row) && randomInt(3) === 0) {
      next.delete(row);
      return { next, make: () => table.deleteEntity(this.name, row) };
    }
    if (randomInt(2) === 0) {
      const entity = this.#newEntity(row, next);
      return { next, make: () => table.upsertEntity(entity, "Replace") };
    }
    const rows = new Set(Array.from({ length: BATCH_MAX }, () => String(randomInt(ROWS))));
    const batch = [...rows].map((each): TransactionAction => {
      if (!before.has(each) || randomInt(3) > 0) {
        return ["upsert", this.#newEntity(each, next), "Replace"];
      }
      next.delete(each);
      return ["delete", { partitionKey: this.name, rowKey: each }];
    });
    return { next, make: () => table.submitTransaction(batch) };
  }

  /** Makes a new entity and adds it to the rows. */
  #newEntity(rowKey: string, rows: Map<string, string>) {
    const value = randomInt(2 ** 40)
      .toString(36)
      .repeat(randomInt(1, VALUE_LENGTH_MAX / 8));
    rows.set(rowKey, value);
    return { partitionKey: this.name, rowKey, value };
  }

  async read(server: WholeServerProcess): Promise<Rows> {
    const rows = new Map<string, string>();
    const filter = `PartitionKey eq '${this.name}'`;
    for await (const entity of tableAt(server).listEntities({ queryOptions: { filter } })) {
      rows.set(entity.rowKey as string, entity.value as string);
    }
    return rows;
  }

  describe(rows: Rows): string {
    return `${rows.size} entities, ${describeBytes(JSON.stringify([...rows].sort()))}`;
  }
}

export function newTableWriter(name: string): StateWriter<Rows> {
  return new StateWriter(new PartitionSubject(name), new Map());
}

export function tableAt({ urls }: WholeServerProcess): TableClient {
  return new TableClient(
    urls.Table,
    "Kills",
    new AzureNamedKeyCredential(ACCOUNT, KEY),
    CLIENT_OPTIONS,
  );
}
