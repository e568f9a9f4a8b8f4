import { durationText } from "../src/base/amount-text.ts";
import { termsOf } from "../src/front/console/holder-words.ts";
import { Confirm, Rows } from "./parts.tsx";
import type { Account } from "./storage.ts";
import { useHolders } from "./use-holders.ts";

/** The files and directories of a share that SMB clients have open, at a path and below it. */
export function ShareHandles(props: { account: Account; share: string; path: string }) {
  const { account, share, path } = props;
  const { all, ending, setEnding, how, now } = useHolders();
  const rows = all.flatMap((holder) => {
    const { held } = holder;
    const isOfShare = holder.account === account.name && holder.container === share;
    return isOfShare && held.kind === "handle" && isWithin(holder.path, path)
      ? [{ holder, held }]
      : [];
  });
  if (rows.length === 0) return null;
  return (
    <section aria-label="Open now">
      <h2>Open now</h2>
      <Rows
        label="Handles"
        columns={["Path", "Client", "Access", "Open for", ""]}
        rows={rows}
        keyOf={({ held }) => held.id}
        cells={({ holder, held }) => [
          holder.path === "" ? "the share itself" : holder.path,
          held.clientIp,
          termsOf(held),
          durationText(now - held.openedMs),
          <button type="button" class="small" onClick={() => setEnding(holder)}>
            Close handle<span class="sr"> of {holder.path}</span>
          </button>,
        ]}
      />
      {how === undefined || ending === null ? null : (
        <Confirm
          title={`${how.action}: ${share}/${ending.path}`}
          action={how.action}
          onClose={() => setEnding(null)}
          onConfirm={() => how.end(account)}
        >
          <p>{how.warning}</p>
        </Confirm>
      )}
    </section>
  );
}

function isWithin(path: string, directory: string): boolean {
  return directory === "" || path === directory || path.startsWith(`${directory}/`);
}
