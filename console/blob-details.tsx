import { useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import { AccessControlDialog } from "./access-control.tsx";
import { Preview } from "./blob-preview.tsx";
import { addressOf, type ListedBlob, makeCurrent, readTags, writeTags } from "./blobs.ts";
import { Pairs } from "./pairs.tsx";
import { Confirm, Copy, Facts, Problem, useLoaded } from "./parts.tsx";
import { type Account, type Answer, save } from "./storage.ts";
import type { useTransfers } from "./transfers.tsx";

/** Headers of a blob that are shown, in this order. */
const SHOWN: readonly (readonly [string, string])[] = [
  ["etag", "ETag"],
  ["content-type", "Type"],
  ["last-modified", "Changed"],
  ["x-ms-creation-time", "Created"],
  ["x-ms-blob-type", "Kind"],
  ["x-ms-access-tier", "Tier"],
  ["x-ms-archive-status", "Rehydration"],
  ["x-ms-lease-state", "Lease"],
  ["x-ms-lease-duration", "Lease lasts"],
  ["x-ms-copy-status", "Copy"],
  ["x-ms-version-id", "Version"],
  ["content-md5", "MD5"],
  ["content-encoding", "Encoding"],
  ["cache-control", "Caching"],
];
const TIERS = ["Hot", "Cool", "Cold", "Archive"];

export function BlobDetails(props: {
  account: Account;
  container: string;
  blob: ListedBlob;
  isHierarchical: boolean;
  transfers: ReturnType<typeof useTransfers>;
  onChange: () => void;
  onClose: () => void;
}) {
  const { account, container, blob, isHierarchical, transfers, onChange, onClose } = props;
  const at = addressOf(container, blob);
  const isCurrent = blob.revision === "" && !blob.isDeleted;
  const [problem, setProblem] = useState<unknown>(null);
  const [isDeleting, setDeleting] = useState(false);
  const [isAccessShown, setAccessShown] = useState(false);
  const [timesRead, setTimesRead] = useState(0);
  const { value, error, reload } = useLoaded(async () => {
    if (blob.isDeleted) return null;
    const answer = await account.ask({ ...at, method: "HEAD" });
    // Containers with directories have no tags.
    return { answer, tags: isHierarchical ? null : await readTags(account, at) };
  }, [blob.name, blob.revision, isHierarchical]);
  const act = async (work: () => Promise<unknown>) => {
    try {
      await work();
      setProblem(null);
      onChange();
      await reload();
      return true;
    } catch (failure) {
      setProblem(failure);
      return false;
    }
  };
  const put = (comp: string, headers: Record<string, string> = {}) =>
    act(() => account.ask({ ...at, method: "PUT", query: { ...at.query, comp }, headers }));
  const etag = value?.answer.header("etag") ?? "";
  // The list may be older than what was read here.
  const bytes = Number(value?.answer.header("content-length") || blob.bytes);
  return (
    <section class="card" aria-label={`Blob ${blob.name}`}>
      <header>
        <h2 class="wrap">{blob.name}</h2>
        <button type="button" class="small" aria-label="Close" onClick={onClose}>
          ✕
        </button>
      </header>
      <Problem error={problem ?? error} />
      <div class="tools">
        {blob.isDeleted ? (
          <button
            type="button"
            onClick={async () => {
              // Everything of the blob that is deleted comes back, whichever row was opened.
              const whole = { ...at, method: "PUT", query: { comp: "undelete" } };
              if (await act(() => account.ask(whole))) onClose();
            }}
          >
            Undelete
          </button>
        ) : (
          <button
            type="button"
            onClick={() =>
              transfers.run(blob.name, bytes, (ticket) => save(account, at, nameOf(blob), ticket))
            }
          >
            Download
          </button>
        )}
        {isCurrent ? (
          <button type="button" onClick={() => put("snapshot")}>
            Snapshot
          </button>
        ) : null}
        {isCurrent || blob.isDeleted || account.blobUrl === null ? null : (
          <button
            type="button"
            onClick={async () => {
              if (await act(() => makeCurrent(account, container, blob))) onClose();
            }}
          >
            Make current
          </button>
        )}
        {blob.isDeleted ? null : (
          <button type="button" class="danger" onClick={() => setDeleting(true)}>
            Delete
          </button>
        )}
        {isHierarchical && isCurrent ? (
          <button type="button" onClick={() => setAccessShown(true)}>
            Access control
          </button>
        ) : null}
        {blob.isDeleted ? null : (
          <button
            type="button"
            onClick={async () => {
              setProblem(null);
              await reload();
              setTimesRead((times) => times + 1);
            }}
          >
            Read again
          </button>
        )}
        <Copy text={`${container}/${blob.name}`} label="Copy path" />
      </div>
      {value === null ? null : (
        <>
          <Properties answer={value.answer} bytes={bytes} />
          {isCurrent ? (
            <>
              {blob.type === "BlockBlob" ? (
                <label>
                  Tier{" "}
                  <select
                    value={value.answer.header("x-ms-access-tier")}
                    onChange={(event) =>
                      put("tier", { "x-ms-access-tier": event.currentTarget.value })
                    }
                  >
                    {TIERS.map((tier) => (
                      <option key={tier}>{tier}</option>
                    ))}
                  </select>
                </label>
              ) : null}
              <Pairs
                title="Metadata"
                hint={(version) => `Saved only if the ETag is still ${version}.`}
                pairs={metadataOf(value.answer)}
                version={etag}
                timesRead={timesRead}
                onSave={(pairs, version) =>
                  put("metadata", {
                    ...Object.fromEntries(
                      pairs.map(([name, text]) => [`x-ms-meta-${name.toLowerCase()}`, text]),
                    ),
                    "if-match": version,
                  })
                }
              />
              {value.tags === null ? null : (
                <Pairs
                  title="Tags"
                  pairs={value.tags}
                  onSave={(pairs) => act(() => writeTags(account, at, pairs))}
                />
              )}
            </>
          ) : null}
          <Preview
            key={etag}
            account={account}
            at={at}
            name={blob.name}
            bytes={bytes}
            type={value.answer.header("content-type")}
          />
        </>
      )}
      {isAccessShown ? (
        <AccessControlDialog
          account={account}
          container={container}
          path={blob.name}
          isDirectory={false}
          onClose={() => setAccessShown(false)}
        />
      ) : null}
      {isDeleting ? (
        <Confirm
          title={`Delete ${blob.name}${blob.note}`}
          action="Delete"
          onClose={() => setDeleting(false)}
          onConfirm={async () => {
            const headers: Record<string, string> = isCurrent
              ? { "x-ms-delete-snapshots": "include", "if-match": etag }
              : {};
            await account.ask({ ...at, method: "DELETE", headers });
            onChange();
            onClose();
          }}
        >
          <p>
            {isCurrent
              ? "The blob goes, with its snapshots, if nobody has changed it since it was opened here. A leased blob is refused."
              : "This revision goes. The blob itself stays."}
          </p>
        </Confirm>
      ) : null}
    </section>
  );
}

function nameOf({ name }: ListedBlob): string {
  return name.split("/").at(-1) ?? name;
}

function Properties({ answer, bytes }: { answer: Answer; bytes: number }) {
  const facts = SHOWN.map(([header, title]) => [title, answer.header(header)] as const);
  return <Facts facts={[["Size", bytesText(bytes)], ...facts]} />;
}

/** Header names are lower case here, whatever the case in which they were set. */
function metadataOf(answer: Answer): [string, string][] {
  return answer.names
    .filter((name) => name.startsWith("x-ms-meta-"))
    .map((name) => [name.slice("x-ms-meta-".length), answer.header(name)]);
}
