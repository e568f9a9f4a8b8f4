import { useState } from "preact/hooks";
import { Crumbs } from "./crumbs.tsx";
import { Confirm, Dialog, Empty, Problem, Rows, useLoaded } from "./parts.tsx";
import type { Account } from "./storage.ts";

type Entity = Readonly<Record<string, unknown>>;

const PAGE = "1000";
/** Properties of OData that are no data. */
const NOTES = /odata\./;
const COLUMNS_MAX = 6;

/** A table: query, edit with the ETag that was read, insert, delete. */
export function TableView({ account, table }: { account: Account; table: string }) {
  const [asked, setAsked] = useState("");
  const [filter, setFilter] = useState("");
  const [edited, setEdited] = useState<Entity | "new" | null>(null);
  const { value, error, reload } = useLoaded(
    () => query(account, table, filter),
    [account.name, table, filter],
  );
  const names = [...new Set((value?.entities ?? []).flatMap(namesIn))];
  const columns = names.slice(0, COLUMNS_MAX);
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
        <input
          placeholder="PartitionKey eq 'a' and Count gt 3"
          aria-label="Filter"
          list="table-names"
          value={asked}
          onInput={(event) => setAsked(event.currentTarget.value)}
        />
        <datalist id="table-names">
          {names.map((name) => (
            <option key={name} value={`${name} eq `} />
          ))}
        </datalist>
        <button type="submit">Query</button>
        <button type="button" onClick={() => setEdited("new")}>
          Insert
        </button>
      </form>
      <Problem error={error} />
      {value === null ? null : value.entities.length === 0 ? (
        <Empty>
          {filter === "" ? "The table is empty. Insert an entity." : "No entity fits the filter."}
        </Empty>
      ) : (
        <Rows
          label="Entities"
          columns={["PartitionKey", "RowKey", ...columns, "ETag"]}
          rows={value.entities}
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
      {value?.isMore ? <p class="hint">There are more: filter to see others.</p> : null}
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

async function query(account: Account, table: string, filter: string) {
  const answer = await account.ask({
    service: "table",
    path: [`${table}()`],
    query: { $top: PAGE, ...(filter === "" ? {} : { $filter: filter }) },
  });
  const { value } = await answer.json<{ value: Entity[] }>();
  return { entities: value, isMore: answer.header("x-ms-continuation-NextPartitionKey") !== "" };
}

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

/** Names of properties of the user's own. */
function namesIn(entity: Entity): string[] {
  const own = (name: string) => !NOTES.test(name) && !/^(PartitionKey|RowKey)$/.test(name);
  return Object.keys(entity).filter(own);
}

function shownValue(entity: Entity, name: string) {
  const value = entity[name];
  if (value === undefined) return "";
  const type = String(entity[`${name}@odata.type`] ?? "").replace("Edm.", "");
  return <span title={type || typeof value}>{String(value)}</span>;
}

/** The properties that a user may change, with their types. */
function editable(entity: Entity | null): Entity {
  if (entity === null) return { PartitionKey: "", RowKey: "" };
  const own = Object.entries(entity).filter(
    ([name]) => !name.startsWith("odata.") && !name.startsWith("Timestamp"),
  );
  return Object.fromEntries(own);
}
