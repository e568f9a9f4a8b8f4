import { useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import { Crumbs } from "./crumbs.tsx";
import { dateText } from "./format.ts";
import { type Page, usePages } from "./pages.ts";
import { Confirm, Empty, Problem, Rows } from "./parts.tsx";
import { ShareHandles } from "./share-handles.tsx";
import { ShareSnapshots, snapshotQuery } from "./share-snapshots.tsx";
import { type Account, save, type Ticket } from "./storage.ts";
import { useTransfers } from "./transfers.tsx";
import { linkTo } from "./way.ts";
import { elements, textAt } from "./xml.ts";

interface Item {
  readonly name: string;
  readonly isDirectory: boolean;
  readonly bytes: number;
  readonly modified: string;
}

const PAGE = "1000";
/** One range of Put Range. */
const RANGE_BYTES = 4 * 1024 * 1024;

/** A directory of a share. */
export function ShareView(props: {
  account: Account;
  share: string;
  path: string;
  hasApi: boolean;
}) {
  const { account, share, path, hasApi } = props;
  const [problem, setProblem] = useState<unknown>(null);
  const [doomed, setDoomed] = useState<Item | null>(null);
  const [name, setName] = useState("");
  const [snapshot, setSnapshot] = useState("");
  const transfers = useTransfers();
  const below = (item: string) => (path === "" ? item : `${path}/${item}`);
  const { rows, error, isWhole, more, reload } = usePages(
    (from) => list(account, share, path, snapshot, from),
    [account.name, share, path, snapshot],
  );
  const isNow = snapshot === "";
  const act = async (work: () => Promise<unknown>) => {
    try {
      await work();
      setProblem(null);
      reload();
    } catch (failure) {
      setProblem(failure);
    }
  };
  const parts = path.split("/").filter((part) => part !== "");
  return (
    <>
      <Crumbs
        way={[
          ["shares", [account.name, "shares"]],
          [share, [account.name, "shares", share]],
          ...parts.map(
            (part, at) =>
              [part, [account.name, "shares", share, ...parts.slice(0, at + 1)]] as const,
          ),
        ]}
      />
      <ShareSnapshots account={account} share={share} chosen={snapshot} onChoose={setSnapshot} />
      <form
        class="tools"
        hidden={!isNow}
        onSubmit={(event) => {
          event.preventDefault();
          const query = { restype: "directory" };
          const made = {
            service: "file",
            method: "PUT",
            path: [share, below(name)],
            query,
          } as const;
          act(() => account.ask({ ...made, headers: NEW_ITEM })).then(() => setName(""));
        }}
      >
        <input
          placeholder="Name of a new directory"
          aria-label="Name of a new directory"
          value={name}
          onInput={(event) => setName(event.currentTarget.value)}
        />
        <button type="submit" disabled={name === ""}>
          Create directory
        </button>
        <label class="button">
          Upload files{" "}
          <input
            type="file"
            multiple
            onChange={(event) => {
              for (const file of event.currentTarget.files ?? []) {
                const to = below(file.name);
                transfers
                  .run(to, file.size, (ticket) => upload(account, share, to, file, ticket))
                  .then((isDone) => isDone && reload());
              }
            }}
          />
        </label>
        <button type="button" onClick={reload}>
          Refresh
        </button>
      </form>
      {transfers.list}
      <Problem error={problem ?? error} />
      {rows.length === 0 && isWhole ? (
        <Empty>
          {isNow
            ? "The directory is empty. Upload files here, or mount the share over SMB."
            : "The directory was empty when the snapshot was made."}
        </Empty>
      ) : (
        <Rows
          label="Files"
          columns={["Name", "Size", "Changed", ""]}
          rows={rows}
          onEnd={more}
          keyOf={(item) => item.name}
          onOpen={(item) => {
            if (item.isDirectory) {
              location.hash = linkTo("browse", account.name, "shares", share, ...parts, item.name);
            } else {
              const query = snapshotQuery(snapshot);
              const asked = { service: "file", path: [share, below(item.name)], query } as const;
              transfers.run(below(item.name), item.bytes, (ticket) =>
                save(account, asked, item.name, ticket),
              );
            }
          }}
          cells={(item) => [
            item.isDirectory ? `${item.name}/` : item.name,
            item.isDirectory ? "" : bytesText(item.bytes),
            dateText(item.modified),
            isNow ? (
              <button type="button" class="small danger" onClick={() => setDoomed(item)}>
                Delete<span class="sr"> {item.name}</span>
              </button>
            ) : null,
          ]}
        />
      )}
      {hasApi && isNow ? <ShareHandles account={account} share={share} path={path} /> : null}
      {doomed === null ? null : (
        <Confirm
          title={`Delete ${doomed.name}`}
          action="Delete"
          onClose={() => setDoomed(null)}
          onConfirm={async () => {
            await account.ask({
              service: "file",
              method: "DELETE",
              path: [share, below(doomed.name)],
              query: doomed.isDirectory ? { restype: "directory" } : {},
            });
            reload();
          }}
        >
          <p>A file that an SMB client has open without sharing deletion is refused with 409.</p>
        </Confirm>
      )}
    </>
  );
}

const NEW_ITEM = {
  "x-ms-file-permission": "inherit",
  "x-ms-file-attributes": "None",
  "x-ms-file-creation-time": "now",
  "x-ms-file-last-write-time": "now",
};

async function list(
  account: Account,
  share: string,
  path: string,
  snapshot: string,
  from: string,
): Promise<Page<Item>> {
  const answer = await account.ask({
    service: "file",
    path: path === "" ? [share] : [share, path],
    query: {
      restype: "directory",
      comp: "list",
      include: "Timestamps",
      maxresults: PAGE,
      ...snapshotQuery(snapshot),
      ...(from === "" ? {} : { marker: from }),
    },
    headers: { "x-ms-file-extended-info": "true" },
  });
  const xml = await answer.xml();
  const rows = ["Directory", "File"].flatMap((name) =>
    elements(xml, name).map((found) => ({
      name: textAt(found, "Name"),
      isDirectory: name === "Directory",
      bytes: Number(textAt(found, "Properties/Content-Length")),
      modified: textAt(found, "Properties/LastWriteTime"),
    })),
  );
  return { rows, next: textAt(xml.documentElement, "NextMarker") };
}

/** A file is created with its length, then written range by range. */
async function upload(
  account: Account,
  share: string,
  path: string,
  file: File,
  { onProgress, signal }: Ticket,
): Promise<void> {
  const at = { service: "file", method: "PUT", path: [share, path], signal } as const;
  const length = String(file.size);
  await account.ask({
    ...at,
    headers: { ...NEW_ITEM, "x-ms-type": "file", "x-ms-content-length": length },
  });
  for (let from = 0; from < file.size; from += RANGE_BYTES) {
    const body = file.slice(from, from + RANGE_BYTES);
    await account.ask({
      ...at,
      query: { comp: "range" },
      headers: { "x-ms-write": "update", "x-ms-range": `bytes=${from}-${from + body.size - 1}` },
      body,
      onProgress: (bytes) => onProgress(from + bytes),
    });
  }
}
