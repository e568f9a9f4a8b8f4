import { useEffect, useState } from "preact/hooks";
import {
  getJson,
  type Held,
  type Holder,
  type HolderList,
  listen,
  type SeenRequest,
} from "./api.ts";
import { bytesText, durationText, timeText } from "./format.ts";
import { Confirm, Empty, Rows, useNow } from "./parts.tsx";
import { type Ending, endingsOf } from "./release-holder.ts";
import type { SignedIn } from "./signed-in.ts";

const KINDS: Readonly<Record<Held["kind"], string>> = {
  lease: "Leases",
  handle: "SMB opens",
  lock: "Byte-range locks",
  cache: "Oplocks and SMB leases",
  message: "Hidden messages",
  copy: "Pending copies",
  deletePending: "Delete pending",
};

type Order = "object" | "kind" | "time";

export function HolderPage({ signedIn }: { signedIn: SignedIn }) {
  const [list, setList] = useState<HolderList | null>(null);
  const [isLive, setLive] = useState(true);
  const [kind, setKind] = useState<Held["kind"] | "">("");
  const [text, setText] = useState("");
  const [order, setOrder] = useState<Order>("object");
  const [ending, setEnding] = useState<{ holder: Holder; how: Ending } | null>(null);
  const now = useNow();
  const leasers = useLeasers();
  useEffect(() => listen<HolderList>("holders", setList, setLive), []);
  const all = list?.holders ?? [];
  const shown = all
    .filter(({ held }) => kind === "" || held.kind === kind)
    .filter((holder) => nameOf(holder).toLowerCase().includes(text.toLowerCase()))
    .sort(ORDERS[order]);
  const account = ending === null ? undefined : signedIn.accounts.get(ending.holder.account);
  return (
    <>
      <h1>Who holds what</h1>
      <div class="tools">
        <label>
          Show{" "}
          <select
            value={kind}
            onChange={(event) => setKind(event.currentTarget.value as Held["kind"] | "")}
          >
            <option value="">everything ({all.length})</option>
            {Object.entries(KINDS).map(([name, title]) => (
              <option key={name} value={name}>
                {title} ({all.filter(({ held }) => held.kind === name).length})
              </option>
            ))}
          </select>
        </label>
        <label>
          Sort by{" "}
          <select value={order} onChange={(event) => setOrder(event.currentTarget.value as Order)}>
            <option value="object">name</option>
            <option value="kind">kind</option>
            <option value="time">time left</option>
          </select>
        </label>
        <input
          type="search"
          placeholder="Filter by name"
          aria-label="Filter by name"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <span class={isLive ? "live" : "live off"} role="status">
          {isLive ? "live" : "reconnecting…"}
        </span>
      </div>
      {list?.isCut ? <p class="hint">There are more holders than a list shows.</p> : null}
      {list !== null && shown.length === 0 ? (
        <Empty>
          {all.length === 0
            ? "Nobody holds anything now. Leases, SMB opens, locks, hidden messages and copies appear here as soon as a client has one."
            : "Nothing fits the filter."}
        </Empty>
      ) : (
        <Rows
          label="Holders"
          columns={["What", "Kind", "Held by", "Terms", "Time", ""]}
          rows={shown}
          keyOf={keyOf}
          cells={(holder) => [
            <span title={nameOf(holder)}>
              {signedIn.accounts.size === 1 ? nameWithin(holder) : nameOf(holder)}
            </span>,
            kindOf(holder.held),
            holderOf(holder, leasers),
            termsOf(holder.held),
            timeOf(holder.held, now),
            <span class="buttons">
              {endingsOf(holder, all).map((how) => (
                <button
                  key={how.action}
                  type="button"
                  class="small"
                  onClick={() => setEnding({ holder, how })}
                >
                  {how.action}
                </button>
              ))}
            </span>,
          ]}
        />
      )}
      {ending !== null && account !== undefined ? (
        <Confirm
          title={`${ending.how.action}: ${nameOf(ending.holder)}`}
          action={ending.how.action}
          onConfirm={() => ending.how.end(account)}
          onClose={() => setEnding(null)}
        >
          <p>{ending.how.warning}</p>
          <p class="hint">Held by {holderOf(ending.holder, leasers)}.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** The last request that acquired or renewed each lease, by the object. */
function useLeasers(): ReadonlyMap<string, SeenRequest> {
  const [leasers, setLeasers] = useState<ReadonlyMap<string, SeenRequest>>(new Map());
  useEffect(() => {
    const add = ({ requests }: { requests: readonly SeenRequest[] }) => {
      const leases = requests.filter(
        ({ operation, status }) => operation.startsWith("Lease") && status < 300,
      );
      if (leases.length === 0) return;
      setLeasers(
        (known) => new Map([...known, ...leases.map((one) => [one.object, one] as const)]),
      );
    };
    getJson<{ requests: readonly SeenRequest[] }>("/api/requests").then(add, () => {});
    return listen("requests", add);
  }, []);
  return leasers;
}

function nameOf({ account, container, path }: Holder): string {
  return [account, container, path].filter((part) => part !== "").join("/");
}

function nameWithin({ container, path }: Holder): string {
  return path === "" ? container : `${container}/${path}`;
}

function keyOf(holder: Holder): string {
  const { held } = holder;
  const own = "id" in held ? held.id : held.kind === "lock" ? `${held.handle} ${held.offset}` : "";
  return `${held.kind} ${nameOf(holder)} ${own} ${"rights" in held ? held.rights : ""}`;
}

function timeLeftOf({ held }: Holder): number {
  return "untilMs" in held && held.untilMs !== null ? held.untilMs : Number.MAX_SAFE_INTEGER;
}

const byName = (one: Holder, other: Holder) => nameOf(one).localeCompare(nameOf(other));
const ORDERS: Readonly<Record<Order, (one: Holder, other: Holder) => number>> = {
  object: byName,
  kind: (one, other) => one.held.kind.localeCompare(other.held.kind) || byName(one, other),
  time: (one, other) => timeLeftOf(one) - timeLeftOf(other) || byName(one, other),
};

function kindOf(held: Held): string {
  switch (held.kind) {
    case "lease":
      return `${held.object} lease`;
    case "handle":
      return held.isDirectory ? "open directory" : "open file";
    case "lock":
      return held.isExclusive ? "exclusive lock" : "shared lock";
    case "cache":
      return held.form === "lease" ? "SMB lease" : "oplock";
    case "message":
      return held.dequeueCount === 0 ? "scheduled message" : "hidden message";
    case "copy":
      return `copy to a ${held.object}`;
    case "deletePending":
      return "delete pending";
  }
}

function holderOf(holder: Holder, leasers: ReadonlyMap<string, SeenRequest>): string {
  const { held } = holder;
  switch (held.kind) {
    case "lease": {
      const service = held.object === "share" || held.object === "file" ? "file" : "blob";
      // The File service compares names without case.
      const name = service === "file" ? nameOf(holder).toLowerCase() : nameOf(holder);
      const last = leasers.get(`${service}:${name}`);
      if (last === undefined) return `lease ${held.id}`;
      return `${last.remoteAddress}${last.agent === null ? "" : `, ${shortAgent(last.agent)}`}`;
    }
    case "handle":
      return held.clientIp;
    case "lock":
      return `handle ${held.handle}`;
    case "cache":
      return `${held.handles} handle${held.handles === 1 ? "" : "s"}`;
    case "message":
      return `message ${held.id}`;
    case "copy":
      return held.source;
    case "deletePending":
      return "its open handles";
  }
}

function shortAgent(agent: string): string {
  return agent.split(" ")[0] ?? agent;
}

function termsOf(held: Held): string {
  switch (held.kind) {
    case "lease":
      return held.state === "breaking"
        ? "breaking"
        : held.durationSeconds === -1
          ? "until released"
          : `${held.durationSeconds} s`;
    case "handle": {
      const share = held.shareMode.length === 0 ? "nobody" : held.shareMode.join(", ");
      const access = held.access.length === 0 ? "attributes" : held.access.join(", ");
      return `${access}; others: ${share}${held.deletesOnClose ? "; deletes on close" : ""}`;
    }
    case "lock":
      return `${held.length} bytes from ${held.offset}`;
    case "cache":
      return `${held.rights || "none"}${held.isBreaking ? ", breaking" : ""}`;
    case "message":
      return `dequeued ${held.dequeueCount} times`;
    case "copy":
      return `${bytesText(held.bytesDone)} of ${bytesText(held.bytesTotal)}`;
    case "deletePending":
      return held.isDirectory ? "directory" : "file";
  }
}

function timeOf(held: Held, now: number): string {
  if (held.kind === "handle") return `since ${timeText(held.openedMs)}`;
  if ("untilMs" in held && held.untilMs !== null) return `${durationText(held.untilMs - now)} left`;
  return "";
}
