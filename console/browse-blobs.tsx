import { useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import { BlobDetails } from "./blob-details.tsx";
import { type ListedBlob, listBlobs } from "./blobs.ts";
import { Crumbs } from "./crumbs.tsx";
import { DirectoryTools, useIsHierarchical } from "./directory-tools.tsx";
import { countText, dateText } from "./format.ts";
import { usePages } from "./pages.ts";
import { Empty, Problem, Rows } from "./parts.tsx";
import { type Account, uploadBlob } from "./storage.ts";
import { useTransfers } from "./transfers.tsx";
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
  const transfers = useTransfers();
  const isHierarchical = useIsHierarchical(account, container);
  const upload = async (files: readonly File[]) => {
    for (const file of files) {
      const name = `${below}${file.name}`;
      const isDone = await transfers.run(name, file.size, (ticket) =>
        uploadBlob(account, container, name, file, ticket),
      );
      if (isDone) reload();
    }
  };
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
            onChange={(event) => upload([...(event.currentTarget.files ?? [])])}
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
      {isHierarchical ? (
        <DirectoryTools account={account} container={container} path={prefix} onChange={reload} />
      ) : null}
      {transfers.list}
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
            upload([...(event.dataTransfer?.files ?? [])]);
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
            isHierarchical={isHierarchical}
            transfers={transfers}
            onChange={reload}
            onClose={() => setOpened(null)}
          />
        )}
      </div>
    </>
  );
}
