import { useState } from "preact/hooks";
import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { BlobList } from "./browse-blobs.tsx";
import { QueueView } from "./browse-queue.tsx";
import { ShareView } from "./browse-share.tsx";
import { TableView } from "./browse-table.tsx";
import { dateText } from "./format.ts";
import { type Page, usePages } from "./pages.ts";
import { Confirm, Empty, Problem, Rows } from "./parts.tsx";
import type { SignedIn } from "./signed-in.ts";
import type { Account } from "./storage.ts";
import { linkTo } from "./way.ts";
import { elements, textAt } from "./xml.ts";

const PAGE = "1000";

type Kind = "blobs" | "queues" | "tables" | "shares";

interface Holding {
  readonly service: ServiceName;
  readonly title: string;
  readonly one: string;
  readonly restype: Readonly<Record<string, string>>;
}

const KINDS: Readonly<Record<Kind, Holding>> = {
  blobs: { service: "blob", title: "Blobs", one: "container", restype: { restype: "container" } },
  queues: { service: "queue", title: "Queues", one: "queue", restype: {} },
  tables: { service: "table", title: "Tables", one: "table", restype: {} },
  shares: { service: "file", title: "Shares", one: "share", restype: { restype: "share" } },
};

/** `#/browse/<account>/<kind>/<container>/<path>` */
export function Browse({ way, signedIn }: { way: readonly string[]; signedIn: SignedIn }) {
  const names = [...signedIn.accounts.keys()];
  const [name = names[0] ?? "", kindName = "blobs", container = "", ...path] = way;
  const account = signedIn.accounts.get(name);
  const kind = (kindName in KINDS ? kindName : "blobs") as Kind;
  if (account === undefined) return <Empty>There is no account {name}.</Empty>;
  return (
    <>
      <h1>Browse</h1>
      <div class="tools">
        <label>
          Account{" "}
          <select
            value={name}
            onChange={(event) => {
              location.hash = linkTo("browse", event.currentTarget.value, kind);
            }}
          >
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      <nav class="tabs" aria-label="Services">
        {Object.entries(KINDS).map(([one, { title }]) => (
          <a
            key={one}
            href={linkTo("browse", name, one)}
            aria-current={one === kind ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {container === "" ? (
        <Containers key={`${name} ${kind}`} account={account} kind={kind} />
      ) : (
        <Inside
          key={`${name} ${kind} ${container}`}
          account={account}
          kind={kind}
          container={container}
          path={path.join("/")}
          hasApi={signedIn.home !== null}
        />
      )}
    </>
  );
}

function Inside(props: {
  account: Account;
  kind: Kind;
  container: string;
  path: string;
  hasApi: boolean;
}) {
  const { account, kind, container, path, hasApi } = props;
  switch (kind) {
    case "blobs":
      return <BlobList account={account} container={container} prefix={path} />;
    case "queues":
      return <QueueView account={account} queue={container} hasApi={hasApi} />;
    case "tables":
      return <TableView account={account} table={container} />;
    case "shares":
      return <ShareView account={account} share={container} path={path} />;
  }
}

interface Listed {
  readonly name: string;
  readonly modified: string;
  readonly note: string;
}

function Containers({ account, kind }: { account: Account; kind: Kind }) {
  const { one } = KINDS[kind];
  const [name, setName] = useState("");
  const [problem, setProblem] = useState<unknown>(null);
  const [doomed, setDoomed] = useState<string | null>(null);
  const { rows, error, isWhole, more, reload } = usePages(
    (from) => list(account, kind, from),
    [account.name, kind],
  );
  const add = async (event: Event) => {
    event.preventDefault();
    try {
      await create(account, kind, name);
      setName("");
      setProblem(null);
      reload();
    } catch (failure) {
      setProblem(failure);
    }
  };
  return (
    <>
      <form class="tools" onSubmit={add}>
        <input
          placeholder={`Name of a new ${one}`}
          aria-label={`Name of a new ${one}`}
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" disabled={name === ""}>
          Create {one}
        </button>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </form>
      <Problem error={problem ?? error} />
      {rows.length === 0 && isWhole ? (
        <Empty>
          There is no {one} yet. Create one here, or with any client: Home has connection strings.
        </Empty>
      ) : (
        <Rows
          label={KINDS[kind].title}
          columns={["Name", "Changed", "", ""]}
          rows={rows}
          onEnd={more}
          keyOf={(listed) => listed.name}
          onOpen={(listed) => {
            location.hash = linkTo("browse", account.name, kind, listed.name);
          }}
          cells={(listed) => [
            listed.name,
            dateText(listed.modified),
            listed.note,
            <button type="button" class="small danger" onClick={() => setDoomed(listed.name)}>
              Delete<span class="sr"> {listed.name}</span>
            </button>,
          ]}
        />
      )}
      {doomed === null ? null : (
        <Confirm
          title={`Delete ${one} ${doomed}`}
          action="Delete"
          onClose={() => setDoomed(null)}
          onConfirm={async () => {
            await remove(account, kind, doomed);
            reload();
          }}
        >
          <p>Everything in it goes with it, for all clients at once. A leased {one} is refused.</p>
        </Confirm>
      )}
    </>
  );
}

async function list(account: Account, kind: Kind, from: string): Promise<Page<Listed>> {
  const { service, one } = KINDS[kind];
  if (kind === "tables") {
    const answer = await account.ask({
      service,
      path: ["Tables"],
      query: from === "" ? {} : { NextTableName: from },
      headers: { accept: "application/json;odata=nometadata" },
    });
    const { value } = await answer.json<{ value: { TableName: string }[] }>();
    const rows = value.map(({ TableName }) => ({ name: TableName, modified: "", note: "" }));
    return { rows, next: answer.header("x-ms-continuation-NextTableName") };
  }
  const query = { comp: "list", maxresults: PAGE, ...(from === "" ? {} : { marker: from }) };
  const answer = await account.ask({ service, path: [""], query });
  const xml = await answer.xml();
  const element = one[0]?.toUpperCase() + one.slice(1);
  const rows = elements(xml, element).map((found) => {
    const lease = textAt(found, "Properties/LeaseState");
    return {
      name: textAt(found, "Name"),
      modified: textAt(found, "Properties/Last-Modified"),
      note: lease === "" || lease === "available" ? "" : lease,
    };
  });
  return { rows, next: textAt(xml.documentElement, "NextMarker") };
}

async function create(account: Account, kind: Kind, name: string): Promise<void> {
  const { service, restype } = KINDS[kind];
  if (kind === "tables") {
    await account.ask({
      service,
      method: "POST",
      path: ["Tables"],
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ TableName: name }),
    });
    return;
  }
  await account.ask({ service, method: "PUT", path: [name], query: restype });
}

async function remove(account: Account, kind: Kind, name: string): Promise<void> {
  const { service, restype } = KINDS[kind];
  const path = kind === "tables" ? [`Tables('${name}')`] : [name];
  await account.ask({ service, method: "DELETE", path, query: restype });
}
