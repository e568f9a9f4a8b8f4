import { useState } from "preact/hooks";
import { Crumbs } from "./crumbs.tsx";
import { type Entity, typeOf, useSeenProperties } from "./entities.ts";
import { FilterInput } from "./filter-input.tsx";
import { countText } from "./format.ts";
import { type Page, usePages } from "./pages.ts";
import { Confirm, Dialog, Empty, Problem, Rows } from "./parts.tsx";
import type { Account } from "./storage.ts";

const PAGE = "1000";
const COLUMNS_MAX = 6;

/** A table: query, edit with the ETag that was read, insert, delete. */
export function TableView({ account, table }: { account: Account; table: string }) {
  const [asked, setAsked] = useState("");
  const [filter, setFilter] = useState("");
  const [edited, setEdited] = useState<Entity | "new" | null>(null);
  const { rows, error, isWhole, more, reload } = usePages(
    (from) => query(account, table, filter, from),
    [account.name, table, filter],
  );
  const seen = useSeenProperties(rows);
  const own = [...seen.keys()].filter((name) => !isKey(name) && name !== "Timestamp");
  const columns = own.slice(0, COLUMNS_MAX);
  return (
    <>
      <Crumbs
        way={[
          ["tables", [account.name, "tables"]],
          [table, [account.name, "tables", table]],
        ]}
      />
      <form
        class="tools"
        onSubmit={(event) => {
          event.preventDefault();
          setFilter(asked);
          reload();
        }}
      >
        <FilterInput value={asked} properties={seen} onInput={setAsked} />
        <button type="submit">Query</button>
        <button type="button" onClick={() => setEdited("new")}>
          Insert
        </button>
        <span class="hint" role="status">
          {countText(rows.length)}
          {isWhole ? "" : "+"} shown
        </span>
      </form>
      <Problem error={error} />
      {rows.length === 0 && isWhole ? (
        <Empty>
          {filter === "" ? "The table is empty. Insert an entity." : "No entity fits the filter."}
        </Empty>
      ) : (
        <Rows
          label="Entities"
          columns={[
            "PartitionKey",
            "RowKey",
            ...columns.map((name) => `${name} (${seen.get(name)?.type})`),
            "ETag",
          ]}
          rows={rows}
          onEnd={more}
          keyOf={(entity) => `${entity.PartitionKey} ${entity.RowKey}`}
          onOpen={setEdited}
          cells={(entity) => [
            String(entity.PartitionKey),
            String(entity.RowKey),
            ...columns.map((name) => shownValue(entity, name)),
            etagOf(entity),
          ]}
        />
      )}
      {edited === null ? null : (
        <Editor
          account={account}
          table={table}
          entity={edited === "new" ? null : edited}
          onDone={reload}
          onClose={() => setEdited(null)}
        />
      )}
    </>
  );
}

function Editor(props: {
  account: Account;
  table: string;
  entity: Entity | null;
  onDone: () => void;
  onClose: () => void;
}) {
  const { account, table, entity, onDone, onClose } = props;
  const [text, setText] = useState(() => JSON.stringify(editable(entity), null, 2));
  const [isForced, setForced] = useState(false);
  const [isDeleting, setDeleting] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const etag = isForced || entity === null ? "*" : etagOf(entity);
  const save = async () => {
    try {
      await write(account, table, entity, JSON.parse(text), etag);
      onDone();
      onClose();
    } catch (failure) {
      setProblem(failure);
    }
  };
  const title = entity === null ? "Insert an entity" : `${entity.PartitionKey} / ${entity.RowKey}`;
  if (isDeleting && entity !== null) {
    return (
      <Confirm
        title={`Delete ${title}`}
        action="Delete"
        onClose={onClose}
        onConfirm={async () => {
          const path = [table + keysOf(entity)];
          const headers = { "if-match": etag };
          await account.ask({ service: "table", method: "DELETE", path, headers });
          onDone();
        }}
      >
        <p>It is deleted only if its ETag is still {etag}.</p>
      </Confirm>
    );
  }
  return (
    <Dialog title={title} onClose={onClose}>
      <label>
        Properties, with types as in <code>"When@odata.type": "Edm.DateTime"</code>
        <textarea rows={12} value={text} onInput={(event) => setText(event.currentTarget.value)} />
      </label>
      {entity === null ? null : (
        <>
          <p class="hint">Replaces the entity if its ETag is still {etagOf(entity)}.</p>
          <label>
            <input
              type="checkbox"
              checked={isForced}
              onChange={(event) => setForced(event.currentTarget.checked)}
            />{" "}
            Whatever its ETag is (If-Match: *)
          </label>
        </>
      )}
      <Problem error={problem} />
      <div class="actions">
        {entity === null ? null : (
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
        <button type="button" class="primary" onClick={save}>
          {entity === null ? "Insert" : "Replace"}
        </button>
      </div>
    </Dialog>
  );
}

/** The continuation of a table is two keys, of which the second may be missing. */
async function query(
  account: Account,
  table: string,
  filter: string,
  from: string,
): Promise<Page<Entity>> {
  const [partition = "", row = null] = from === "" ? [] : JSON.parse(from);
  const answer = await account.ask({
    service: "table",
    path: [`${table}()`],
    query: {
      $top: PAGE,
      ...(filter === "" ? {} : { $filter: filter }),
      ...(from === "" ? {} : { NextPartitionKey: partition }),
      ...(row === null ? {} : { NextRowKey: row }),
    },
  });
  const { value } = await answer.json<{ value: Entity[] }>();
  const next = NEXT_KEYS.map((name) => answer.header(name)).filter((key) => key !== "");
  return { rows: value, next: next.length === 0 ? "" : JSON.stringify(next) };
}

const NEXT_KEYS = ["x-ms-continuation-NextPartitionKey", "x-ms-continuation-NextRowKey"];

async function write(
  account: Account,
  table: string,
  old: Entity | null,
  entity: Entity,
  etag: string,
): Promise<void> {
  const body = JSON.stringify(entity);
  const headers = { "content-type": "application/json" };
  const at = { service: "table", body } as const;
  if (old === null) {
    await account.ask({ ...at, method: "POST", path: [table], headers });
    return;
  }
  const path = [table + keysOf(old)];
  await account.ask({ ...at, method: "PUT", path, headers: { ...headers, "if-match": etag } });
}

function keysOf({ PartitionKey, RowKey }: Entity): string {
  const quoted = (key: unknown) => `'${String(key).replaceAll("'", "''")}'`;
  return `(PartitionKey=${quoted(PartitionKey)},RowKey=${quoted(RowKey)})`;
}

function etagOf(entity: Entity): string {
  return String(entity["odata.etag"] ?? "");
}

function isKey(name: string): boolean {
  return name === "PartitionKey" || name === "RowKey";
}

function shownValue(entity: Entity, name: string) {
  const value = entity[name];
  return value === undefined ? "" : <span title={typeOf(entity, name)}>{String(value)}</span>;
}

/** The properties that a user may change, with their types. */
function editable(entity: Entity | null): Entity {
  if (entity === null) return { PartitionKey: "", RowKey: "" };
  const own = Object.entries(entity).filter(
    ([name]) => !name.startsWith("odata.") && !name.startsWith("Timestamp"),
  );
  return Object.fromEntries(own);
}
