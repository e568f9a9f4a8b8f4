import { useState } from "preact/hooks";
import { BlobDetails } from "./blob-details.tsx";
import { type ListedBlob, listBlobs } from "./blobs.ts";
import { Crumbs } from "./crumbs.tsx";
import { bytesText, countText, dateText } from "./format.ts";
import { usePages } from "./pages.ts";
import { Empty, Problem, Rows } from "./parts.tsx";
import { type Account, uploadBlob } from "./storage.ts";
import { linkTo } from "./way.ts";

/** The blobs of a container below a prefix: as directories, or all of them. */
export function BlobList(props: { account: Account; container: string; prefix: string }) {
  const { account, container, prefix } = props;
  const [isFlat, setFlat] = useState(false);
  const [withDeleted, setWithDeleted] = useState(false);
  const [opened, setOpened] = useState<ListedBlob | null>(null);
  const [isOver, setOver] = useState(false);
  const below = prefix === "" ? "" : `${prefix}/`;
  const { rows, error, isWhole, more, reload } = usePages(
    (from) => listBlobs(account, container, below, { isFlat, withDeleted }, from),
    [account.name, container, below, isFlat, withDeleted],
  );
  const uploads = useUploads(account, container, prefix, reload);
  const parts = prefix.split("/").filter((part) => part !== "");
  const open = (row: ListedBlob) => {
    if (!row.isPrefix) return setOpened(row);
    const names = row.name.split("/").filter((part) => part !== "");
    location.hash = linkTo("browse", account.name, "blobs", container, ...names);
  };
  return (
    <>
      <Crumbs
        way={[
          ["containers", [account.name, "blobs"]],
          [container, [account.name, "blobs", container]],
          ...parts.map(
            (part, at) =>
              [part, [account.name, "blobs", container, ...parts.slice(0, at + 1)]] as const,
          ),
        ]}
      />
      <div class="tools">
        <label class="button">
          Upload files{" "}
          <input
            type="file"
            multiple
            onChange={(event) => uploads.start([...(event.currentTarget.files ?? [])])}
          />
        </label>
        <label>
          <input
            type="checkbox"
            checked={isFlat}
            onChange={(event) => setFlat(event.currentTarget.checked)}
          />{" "}
          Flat
        </label>
        <label>
          <input
            type="checkbox"
            checked={withDeleted}
            onChange={(event) => setWithDeleted(event.currentTarget.checked)}
          />{" "}
          Snapshots, versions and deleted
        </label>
        <button type="button" onClick={reload}>
          Refresh
        </button>
        <span class="hint" role="status">
          {countText(rows.length)}
          {isWhole ? "" : "+"} shown
        </span>
      </div>
      {uploads.running.map(({ name, done, total, problem, cancel }) => (
        <div key={name}>
          <label>
            {name}: {bytesText(done)} of {bytesText(total)}
            <progress value={done} max={total || 1} />
          </label>{" "}
          {problem === null ? (
            <button type="button" class="small" onClick={cancel}>
              Cancel
            </button>
          ) : (
            <Problem error={problem} />
          )}
        </div>
      ))}
      <Problem error={error} />
      <div class={`split ${opened === null ? "" : "two"}`}>
        <section
          class={isOver ? "drop" : ""}
          aria-label="Blobs: files can be dropped here"
          onDragOver={(event) => {
            event.preventDefault();
            setOver(true);
          }}
          onDragLeave={() => setOver(false)}
          onDrop={(event) => {
            event.preventDefault();
            setOver(false);
            uploads.start([...(event.dataTransfer?.files ?? [])]);
          }}
        >
          {rows.length === 0 && isWhole ? (
            <Empty>Nothing is here. Drop files on this place to upload them.</Empty>
          ) : (
            <Rows
              label="Blobs"
              columns={["Name", "Size", "Type", "Lease", "Changed"]}
              rows={rows}
              keyOf={(row) => `${row.name} ${row.revision}`}
              isOpen={(row) => row === opened}
              onOpen={open}
              onEnd={more}
              cells={(row) => [
                `${row.name.slice(prefix === "" ? 0 : prefix.length + 1)}${row.note}`,
                row.isPrefix ? "" : bytesText(row.bytes),
                row.isPrefix ? "directory" : row.type,
                row.lease,
                row.modified === "" ? "" : dateText(row.modified),
              ]}
            />
          )}
        </section>
        {opened === null ? null : (
          <BlobDetails
            key={`${opened.name} ${opened.revision}`}
            account={account}
            container={container}
            blob={opened}
            onChange={reload}
            onClose={() => setOpened(null)}
          />
        )}
      </div>
    </>
  );
}

interface Upload {
  readonly name: string;
  readonly done: number;
  readonly total: number;
  readonly problem: unknown;
  readonly cancel: () => void;
}

function useUploads(account: Account, container: string, prefix: string, onDone: () => void) {
  const [running, setRunning] = useState<readonly Upload[]>([]);
  const change = (name: string, changes: Partial<Upload>) =>
    setRunning((all) => all.map((one) => (one.name === name ? { ...one, ...changes } : one)));
  const start = async (files: readonly File[]) => {
    for (const file of files) {
      const name = prefix === "" ? file.name : `${prefix}/${file.name}`;
      const abort = new AbortController();
      const upload = {
        name,
        done: 0,
        total: file.size,
        problem: null,
        cancel: () => abort.abort(),
      };
      setRunning((all) => [...all.filter((one) => one.name !== name), upload]);
      try {
        await uploadBlob(
          account,
          container,
          name,
          file,
          (done) => change(name, { done }),
          abort.signal,
        );
        setRunning((all) => all.filter((one) => one.name !== name));
        onDone();
      } catch (problem) {
        change(name, { problem });
      }
    }
  };
  return { running, start };
}
