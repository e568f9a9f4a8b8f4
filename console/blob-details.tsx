import { useEffect, useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import { AccessControlDialog } from "./access-control.tsx";
import { addressOf, type ListedBlob, readTags, writeTags } from "./blobs.ts";
import { isParquet, ParquetPreview } from "./parquet-preview.tsx";
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
/** A preview of more would only make the page slow. */
const PREVIEW_BYTES = 64 * 1024;

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
      reload();
      onChange();
    } catch (failure) {
      setProblem(failure);
    }
  };
  const put = (comp: string, headers: Record<string, string> = {}) =>
    act(() => account.ask({ ...at, method: "PUT", query: { ...at.query, comp }, headers }));
  const etag = value?.answer.header("etag") ?? "";
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
          <button type="button" onClick={() => put("undelete")}>
            Undelete
          </button>
        ) : (
          <button
            type="button"
            onClick={() =>
              transfers.run(blob.name, blob.bytes, (ticket) =>
                save(account, at, nameOf(blob), ticket),
              )
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
        <Copy text={`${container}/${blob.name}`} label="Copy path" />
      </div>
      {value === null ? null : (
        <>
          <Properties answer={value.answer} bytes={blob.bytes} />
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
                hint={`Saved only if the ETag is still ${etag}.`}
                pairs={metadataOf(value.answer)}
                onSave={(pairs) =>
                  put("metadata", {
                    ...Object.fromEntries(
                      pairs.map(([name, text]) => [`x-ms-meta-${name.toLowerCase()}`, text]),
                    ),
                    "if-match": etag,
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
          {isParquet(blob.name, value.answer.header("content-type")) ? (
            <ParquetPreview account={account} at={at} bytes={blob.bytes} />
          ) : (
            <Preview account={account} at={at} type={value.answer.header("content-type")} />
          )}
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

function Pairs(props: {
  title: string;
  hint?: string;
  pairs: readonly (readonly [string, string])[];
  onSave: (pairs: readonly (readonly [string, string])[]) => void;
}) {
  const { title, hint, pairs, onSave } = props;
  const [edited, setEdited] = useState<readonly (readonly [string, string])[] | null>(null);
  const shown = edited ?? pairs;
  const change = (at: number, pair: readonly [string, string]) =>
    setEdited(shown.map((one, index) => (index === at ? pair : one)));
  return (
    <section aria-label={title}>
      <h3>{title}</h3>
      <div class="pairs">
        {shown.map(([name, text], at) => (
          <>
            <input
              key={`${at} name`}
              aria-label={`${title}: name`}
              value={name}
              onInput={(event) => change(at, [event.currentTarget.value, text])}
            />
            <input
              key={`${at} value`}
              aria-label={`${title}: value of ${name}`}
              value={text}
              onInput={(event) => change(at, [name, event.currentTarget.value])}
            />
            <button
              key={`${at} remove`}
              type="button"
              class="small"
              aria-label={`Remove ${name}`}
              onClick={() => setEdited(shown.filter((_, index) => index !== at))}
            >
              ✕
            </button>
          </>
        ))}
      </div>
      <div class="tools">
        <button type="button" class="small" onClick={() => setEdited([...shown, ["", ""]])}>
          Add to {title.toLowerCase()}
        </button>
        {edited === null ? null : (
          <>
            <button
              type="button"
              class="small primary"
              onClick={() => {
                onSave(edited.filter(([name]) => name !== ""));
                setEdited(null);
              }}
            >
              Save {title.toLowerCase()}
            </button>
            {hint === undefined ? null : <span class="hint">{hint}</span>}
          </>
        )}
      </div>
    </section>
  );
}

/** The beginning of a text, or an image. */
function Preview(props: { account: Account; at: ReturnType<typeof addressOf>; type: string }) {
  const { account, at, type } = props;
  const isImage = /^image\/(png|jpeg|gif|webp|avif)$/.test(type);
  const isText = /^text\/|json|xml|csv|javascript|yaml/.test(type);
  const [text, setText] = useState<string | null>(null);
  const [image, setImage] = useState<string | null>(null);
  // one preview for each blob.
  useEffect(() => {
    let url: string | null = null;
    if (!isImage && !isText) return;
    const range: Record<string, string> = isText ? { range: `bytes=0-${PREVIEW_BYTES - 1}` } : {};
    account.ask({ ...at, headers: range }).then(
      async (answer) => {
        if (isText) return setText(pretty(await answer.text(), type));
        url = URL.createObjectURL(await answer.blob());
        setImage(url);
      },
      () => {},
    );
    return () => {
      if (url !== null) URL.revokeObjectURL(url);
    };
  }, []);
  if (text === null && image === null) return null;
  return (
    <section aria-label="Preview">
      <h3>Preview</h3>
      {image === null ? (
        <pre class="preview">{text}</pre>
      ) : (
        <div class="preview">
          <img src={image} alt="Preview of the blob" />
        </div>
      )}
    </section>
  );
}

function pretty(text: string, type: string): string {
  if (!type.includes("json")) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
