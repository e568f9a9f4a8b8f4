import { useEffect, useState } from "preact/hooks";
import type { ShownHolder, ShownHolders } from "../src/front/console/answers.ts";
import {
  HELD_KINDS,
  holderOf,
  kindOf,
  nameOf,
  termsOf,
  timeOf,
} from "../src/front/console/holder-words.ts";
import type { Held } from "../src/service/shared/holder.ts";
import { listen } from "./api.ts";
import { Confirm, Empty, Rows, useNow } from "./parts.tsx";
import { type Ending, endingsOf } from "./release-holder.ts";
import type { SignedIn } from "./signed-in.ts";

type Order = "object" | "kind" | "time";

export function HolderPage({ signedIn }: { signedIn: SignedIn }) {
  const [list, setList] = useState<ShownHolders | null>(null);
  const [isLive, setLive] = useState(true);
  const [kind, setKind] = useState<Held["kind"] | "">("");
  const [text, setText] = useState("");
  const [order, setOrder] = useState<Order>("object");
  const [ending, setEnding] = useState<{ holder: ShownHolder; how: Ending } | null>(null);
  const now = useNow();
  useEffect(() => listen<ShownHolders>("holders", setList, setLive), []);
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
            {Object.entries(HELD_KINDS).map(([name, title]) => (
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
            holderOf(holder),
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
          <p class="hint">Held by {holderOf(ending.holder)}.</p>
        </Confirm>
      ) : null}
    </>
  );
}

/** Without the account, except of what is about the account as a whole. */
function nameWithin({ account, container, path }: ShownHolder): string {
  if (container === "") return account;
  return path === "" ? container : `${container}/${path}`;
}

function keyOf(holder: ShownHolder): string {
  const { held } = holder;
  const own = "id" in held ? held.id : held.kind === "lock" ? `${held.handle} ${held.offset}` : "";
  return `${held.kind} ${nameOf(holder)} ${own} ${"rights" in held ? held.rights : ""}`;
}

function timeLeftOf({ held }: ShownHolder): number {
  return "untilMs" in held && held.untilMs !== null ? held.untilMs : Number.MAX_SAFE_INTEGER;
}

const byName = (one: ShownHolder, other: ShownHolder) => nameOf(one).localeCompare(nameOf(other));
const ORDERS: Readonly<Record<Order, (one: ShownHolder, other: ShownHolder) => number>> = {
  object: byName,
  kind: (one, other) => one.held.kind.localeCompare(other.held.kind) || byName(one, other),
  time: (one, other) => timeLeftOf(one) - timeLeftOf(other) || byName(one, other),
};
