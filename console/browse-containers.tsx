import { useState } from "preact/hooks";
import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { dateText } from "./format.ts";
import { type Page, usePages } from "./pages.ts";
import { Confirm, Empty, Problem, Rows } from "./parts.tsx";
import type { Account } from "./storage.ts";
import { linkTo } from "./way.ts";
import { elements, textAt } from "./xml.ts";

const PAGE = "1000";

export type Kind = "blobs" | "queues" | "tables" | "shares";

interface Holding {
  readonly service: ServiceName;
  readonly title: string;
  readonly one: string;
  readonly restype: Readonly<Record<string, string>>;
  /** Whether what is deleted can be there for a while. */
  readonly isKept: boolean;
}

export const KINDS: Readonly<Record<Kind, Holding>> = {
  blobs: {
    service: "blob",
    title: "Blobs",
    one: "container",
    restype: { restype: "container" },
    isKept: true,
  },
  queues: { service: "queue", title: "Queues", one: "queue", restype: {}, isKept: false },
  tables: { service: "table", title: "Tables", one: "table", restype: {}, isKept: false },
  shares: {
    service: "file",
    title: "Shares",
    one: "share",
    restype: { restype: "share" },
    isKept: true,
  },
};

interface Listed {
  readonly name: string;
  readonly modified: string;
  readonly note: string;
  /** Names it among deleted ones; "" unless it is deleted. */
  readonly deletedVersion: string;
}

/** The containers, queues, tables or shares of an account. */
export function Containers({ account, kind }: { account: Account; kind: Kind }) {
  const { one, isKept } = KINDS[kind];
  const [name, setName] = useState("");
  const [withDeleted, setWithDeleted] = useState(false);
  const [problem, setProblem] = useState<unknown>(null);
  const [doomed, setDoomed] = useState<string | null>(null);
  const { rows, error, isWhole, more, reload } = usePages(
    (from) => list(account, kind, withDeleted, from),
    [account.name, kind, withDeleted],
  );
  const act = async (work: () => Promise<unknown>) => {
    try {
      await work();
      setProblem(null);
      reload();
      return true;
    } catch (failure) {
      setProblem(failure);
      return false;
    }
  };
  const add = async (event: Event) => {
    event.preventDefault();
    if (await act(() => create(account, kind, name))) setName("");
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
        {isKept ? (
          <label>
            <input
              type="checkbox"
              checked={withDeleted}
              onChange={(event) => setWithDeleted(event.currentTarget.checked)}
            />{" "}
            Deleted ones
          </label>
        ) : null}
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
          keyOf={(listed) => `${listed.name} ${listed.deletedVersion}`}
          canOpen={(listed) => listed.deletedVersion === ""}
          onOpen={(listed) => {
            location.hash = linkTo("browse", account.name, kind, listed.name);
          }}
          cells={(listed) => [
            listed.name,
            dateText(listed.modified),
            listed.note,
            listed.deletedVersion === "" ? (
              <button type="button" class="small danger" onClick={() => setDoomed(listed.name)}>
                Delete<span class="sr"> {listed.name}</span>
              </button>
            ) : (
              <button
                type="button"
                class="small"
                onClick={() => act(() => undelete(account, kind, listed))}
              >
                Undelete<span class="sr"> {listed.name}</span>
              </button>
            ),
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

async function list(
  account: Account,
  kind: Kind,
  withDeleted: boolean,
  from: string,
): Promise<Page<Listed>> {
  const { service, one } = KINDS[kind];
  if (kind === "tables") {
    const answer = await account.ask({
      service,
      path: ["Tables"],
      query: from === "" ? {} : { NextTableName: from },
      headers: { accept: "application/json;odata=nometadata" },
    });
    const { value } = await answer.json<{ value: { TableName: string }[] }>();
    const rows = value.map(({ TableName: name }) => {
      return { name, modified: "", note: "", deletedVersion: "" };
    });
    return { rows, next: answer.header("x-ms-continuation-NextTableName") };
  }
  const query = {
    ...{ comp: "list", maxresults: PAGE },
    ...(withDeleted ? { include: "deleted" } : {}),
    ...(from === "" ? {} : { marker: from }),
  };
  const answer = await account.ask({ service, path: [""], query });
  const xml = await answer.xml();
  const element = one[0]?.toUpperCase() + one.slice(1);
  const rows = elements(xml, element).map(listed);
  return { rows, next: textAt(xml.documentElement, "NextMarker") };
}

function listed(found: Element): Listed {
  const lease = textAt(found, "Properties/LeaseState");
  const isDeleted = textAt(found, "Deleted") === "true";
  const days = textAt(found, "Properties/RemainingRetentionDays");
  return {
    name: textAt(found, "Name"),
    modified: textAt(found, "Properties/Last-Modified"),
    note: isDeleted ? `deleted, ${daysText(days)} left` : lease === "available" ? "" : lease,
    deletedVersion: isDeleted ? textAt(found, "Version") : "",
  };
}

function daysText(days: string): string {
  return days === "1" ? "1 day" : `${days} days`;
}

async function undelete(account: Account, kind: Kind, { name, deletedVersion }: Listed) {
  const { service, one, restype } = KINDS[kind];
  const headers = {
    [`x-ms-deleted-${one}-name`]: name,
    [`x-ms-deleted-${one}-version`]: deletedVersion,
  };
  const query = { ...restype, comp: "undelete" };
  await account.ask({ service, method: "PUT", path: [name], query, headers });
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
