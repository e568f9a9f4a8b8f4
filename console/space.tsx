import { useEffect, useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import type { ShownUsage } from "../src/front/console/answers.ts";
import { getJson } from "./api.ts";
import { countText, dateText } from "./format.ts";
import { Empty, Problem, Rows } from "./parts.tsx";
import { layoutTiles } from "./treemap.ts";
import { linkTo } from "./way.ts";

/** Smaller ones, and those behind so many, share a tile. */
const PART_MIN = 0.002;
const TILES_MAX = 60;
/** Width to height. */
const RATIO = 2;
const POLL_MS = 250;

const KINDS = { blob: "blobs", queue: "queues", table: "tables", file: "shares" } as const;
const WORDS = { blob: "container", queue: "queue", table: "table", file: "share" } as const;

interface SpaceRow extends Omit<ShownUsage["rows"][number], "amounts"> {
  readonly objects: number;
  readonly bytes: number;
  readonly notCurrent: string;
}

/** What takes space: a map of tiles, and the same as a table. */
export function SpacePage() {
  const { space, error, measure } = useSpace();
  const rows = (space?.rows ?? []).map(summed).filter(({ objects }) => objects > 0);
  const bytes = rows.reduce((sum, row) => sum + row.bytes, space?.others?.bytes ?? 0);
  const shareOf = (part: number) => `${bytes === 0 ? 0 : ((100 * part) / bytes).toFixed(1)} %`;
  return (
    <>
      <h1>Space</h1>
      <div class="tools">
        <button type="button" disabled={space?.progress !== null} onClick={measure}>
          Measure again
        </button>
        <span class="hint" role="status">
          {space === null || space.progress !== null
            ? `Reading records: ${countText(space?.progress ?? 0)} so far…`
            : `${bytesText(bytes)}, measured ${dateText(space.atMs ?? 0)}`}
        </span>
      </div>
      <Problem error={error} />
      {space?.atMs != null && rows.length === 0 ? (
        <Empty>Nothing is stored yet. Upload something, and measure again.</Empty>
      ) : null}
      {bytes > 0 ? <SpaceMap rows={rows} bytes={bytes} shareOf={shareOf} /> : null}
      {space?.disk ? (
        <p class="hint">
          On the disk: records {bytesText(space.disk.databaseBytes)}, large bodies{" "}
          {bytesText(space.disk.extentBytes)}, of which{" "}
          {bytesText(Math.max(0, space.disk.extentBytes - space.disk.extentBytesInUse))} are garbage
          or free.
        </p>
      ) : null}
      {rows.length === 0 ? null : (
        <>
          <h2>As a table</h2>
          <Rows
            label="Space as a table"
            columns={["Name", "Kind", "Size", "Part", "Objects", "Of these, not current"]}
            rows={rows}
            keyOf={(row) => `${row.service} ${nameOf(row)}`}
            onOpen={(row) => {
              location.hash = wayTo(row);
            }}
            cells={(row) => [
              nameOf(row),
              WORDS[row.service],
              bytesText(row.bytes),
              shareOf(row.bytes),
              countText(row.objects),
              row.notCurrent,
            ]}
          />
        </>
      )}
      {space?.others ? (
        <p class="hint">
          {countText(space.others.count)} smaller ones are not listed:{" "}
          {bytesText(space.others.bytes)}.
        </p>
      ) : null}
    </>
  );
}

function SpaceMap(props: {
  rows: readonly SpaceRow[];
  bytes: number;
  shareOf: (bytes: number) => string;
}) {
  const { rows, bytes, shareOf } = props;
  const shown = rows.slice(0, TILES_MAX).filter((row) => row.bytes >= bytes * PART_MIN);
  const rest = bytes - shown.reduce((sum, row) => sum + row.bytes, 0);
  const tiles = layoutTiles([...shown.map((row) => row.bytes), ...(rest > 0 ? [rest] : [])], RATIO);
  const styleOf = (at: number) => {
    const { left = 0, top = 0, width = 0, height = 0 } = tiles[at] ?? {};
    const part = (value: number) => `${100 * value}%`;
    return { left: part(left), top: part(top), width: part(width), height: part(height) };
  };
  return (
    <ul class="treemap" aria-label="Space by container, queue, table and share, the largest first">
      {shown.map((row, at) => (
        <li key={`${row.service} ${nameOf(row)}`} style={styleOf(at)}>
          <a
            class={`tile ${row.service}`}
            href={wayTo(row)}
            title={`${nameOf(row)}: ${bytesText(row.bytes)}`}
          >
            <strong>{row.name}</strong>{" "}
            <span>
              {WORDS[row.service]}, {bytesText(row.bytes)}, {shareOf(row.bytes)}
            </span>
          </a>
        </li>
      ))}
      {rest > 0 ? (
        <li style={styleOf(shown.length)}>
          <span class="tile others">
            <strong>others</strong> <span>{bytesText(rest)}</span>
          </span>
        </li>
      ) : null}
    </ul>
  );
}

/** Asks until everything is measured: each request goes on with the work for a while. */
function useSpace() {
  const [space, setSpace] = useState<ShownUsage | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [round, setRound] = useState(0);
  useEffect(() => {
    let isOver = false;
    let timer = 0;
    const ask = async (path: string) => {
      try {
        const answer = await getJson<ShownUsage>(path);
        if (isOver) return;
        setSpace(answer);
        setError(null);
        if (answer.progress !== null) timer = setTimeout(ask, POLL_MS, "/api/usage");
      } catch (failure) {
        if (!isOver) setError(failure);
      }
    };
    ask(round === 0 ? "/api/usage" : "/api/usage?again=1");
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, [round]);
  return { space, error, measure: () => setRound((one) => one + 1) };
}

function summed({ amounts, ...row }: ShownUsage["rows"][number]): SpaceRow {
  const all = Object.values(amounts);
  return {
    ...row,
    objects: all.reduce((sum, { objects }) => sum + objects, 0),
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
    notCurrent: Object.entries(amounts)
      .filter(([kind]) => kind !== "current")
      .map(([kind, { bytes }]) => `${KIND_WORDS[kind] ?? kind} ${bytesText(bytes)}`)
      .join(", "),
  };
}

const KIND_WORDS: Readonly<Record<string, string>> = {
  softDeleted: "soft-deleted",
};

function nameOf({ account, name }: SpaceRow): string {
  return `${account}/${name}`;
}

function wayTo({ service, account, name }: SpaceRow): string {
  return linkTo("browse", account, KINDS[service], name);
}
