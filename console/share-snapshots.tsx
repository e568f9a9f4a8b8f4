import { useState } from "preact/hooks";
import { dateText } from "./format.ts";
import { Confirm, Problem, useLoaded } from "./parts.tsx";
import type { Account } from "./storage.ts";
import { elements, textAt } from "./xml.ts";

/** Lists, makes, opens and deletes the snapshots of a share. "" is the share as it is now. */
export function ShareSnapshots(props: {
  account: Account;
  share: string;
  chosen: string;
  onChoose: (snapshot: string) => void;
}) {
  const { account, share, chosen, onChoose } = props;
  const [problem, setProblem] = useState<unknown>(null);
  const [isDeleting, setDeleting] = useState(false);
  const { value, error, reload } = useLoaded(() => list(account, share), [account.name, share]);
  const at = { service: "file", path: [share] } as const;
  const make = async () => {
    try {
      const query = { restype: "share", comp: "snapshot" };
      await account.ask({ ...at, method: "PUT", query });
      setProblem(null);
      reload();
    } catch (failure) {
      setProblem(failure);
    }
  };
  return (
    <>
      <div class="tools">
        <label>
          Show{" "}
          <select value={chosen} onChange={(event) => onChoose(event.currentTarget.value)}>
            <option value="">the share as it is now</option>
            {(value ?? []).map((snapshot) => (
              <option key={snapshot} value={snapshot}>
                snapshot of {dateText(snapshot)} ({snapshot})
              </option>
            ))}
          </select>
        </label>
        {chosen === "" ? (
          <button type="button" onClick={make}>
            Make snapshot
          </button>
        ) : (
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            Delete this snapshot
          </button>
        )}
      </div>
      <Problem error={problem ?? error} />
      {isDeleting ? (
        <Confirm
          title={`Delete the snapshot of ${dateText(chosen)}`}
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            const query = { restype: "share", ...snapshotQuery(chosen) };
            await account.ask({ ...at, method: "DELETE", query });
            onChoose("");
            reload();
          }}
        >
          <p>
            The share as it was then goes, also as a previous version for SMB clients. The share
            itself stays.
          </p>
        </Confirm>
      ) : null}
    </>
  );
}

export function snapshotQuery(snapshot: string): Record<string, string> {
  return snapshot === "" ? {} : { sharesnapshot: snapshot };
}

/** The newest first. */
async function list(account: Account, share: string): Promise<string[]> {
  const found: string[] = [];
  for (let marker = ""; ; ) {
    const query = { comp: "list", include: "snapshots", prefix: share };
    const answer = await account.ask({
      service: "file",
      path: [""],
      query: { ...query, ...(marker === "" ? {} : { marker }) },
    });
    const xml = await answer.xml();
    for (const one of elements(xml, "Share")) {
      const snapshot = textAt(one, "Snapshot");
      // Shares whose names only begin the same are listed, too.
      if (textAt(one, "Name") === share && snapshot !== "") found.push(snapshot);
    }
    marker = textAt(xml.documentElement, "NextMarker");
    if (marker === "") return found.reverse();
  }
}
