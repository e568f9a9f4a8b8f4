import { durationText } from "../src/base/amount-text.ts";
import { timeText } from "./format.ts";
import { Confirm, Rows } from "./parts.tsx";
import type { Account } from "./storage.ts";
import { useHolders } from "./use-holders.ts";

/** Messages that clients work on, or that wait for their time, with the age of their receipts. */
export function HiddenMessages(props: { account: Account; queue: string; onChange: () => void }) {
  const { account, queue, onChange } = props;
  const { all, setEnding, how, now } = useHolders();
  const rows = all.flatMap((holder) => {
    const { held } = holder;
    const isHere = holder.account === account.name && holder.container === queue;
    return isHere && held.kind === "message" ? [{ holder, held }] : [];
  });
  if (rows.length === 0) return null;
  return (
    <section aria-label="Hidden">
      <h2>Hidden</h2>
      <Rows
        label="Hidden messages"
        columns={["Id", "Why", "Receipt's age", "Visible again", "Dequeued", "Put", ""]}
        rows={rows}
        keyOf={({ held }) => held.id}
        cells={({ holder, held }) => [
          held.id,
          held.dequeueCount === 0 ? "waits for its time" : "a client works on it",
          durationText(now - held.sinceMs),
          `in ${durationText(held.untilMs - now)}, at ${timeText(held.untilMs)}`,
          String(held.dequeueCount),
          timeText(held.putMs),
          <button type="button" class="small" onClick={() => setEnding(holder)}>
            Show again<span class="sr"> {held.id}</span>
          </button>,
        ]}
      />
      {how === undefined ? null : (
        <Confirm
          title={`${how.action}: ${queue}`}
          action={how.action}
          onClose={() => setEnding(null)}
          onConfirm={async () => {
            await how.end(account);
            onChange();
          }}
        >
          <p>{how.warning}</p>
        </Confirm>
      )}
    </section>
  );
}
