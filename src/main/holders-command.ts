import { resolve } from "node:path";
import type { ShownHolder, ShownHolders } from "../front/console/answers.ts";
import {
  countOf,
  holderOf,
  kindOf,
  nameOf,
  termsOf,
  timeOf,
} from "../front/console/holder-words.ts";
import { askApi } from "./ask-server.ts";
import { Holders } from "./console/holders.ts";
import { openData } from "./open-data.ts";
import type { CommandSurroundings } from "./surroundings.ts";
import { textTable } from "./text-table.ts";
import { requireFolder } from "./verify-command.ts";

export interface HoldersAsked {
  readonly location: string;
  /** Only holders at this place or below it: `account/container/path`; null for all. */
  readonly place: string | null;
  readonly json: boolean;
}

type Around = Pick<CommandSurroundings, "clock" | "failStop" | "out" | "err">;

/** Shows who holds what in a data folder, whether a server runs on it or not. */
export async function showHolders(asked: HoldersAsked, around: Around): Promise<void> {
  const folder = resolve(asked.location);
  await requireFolder(folder);
  const { holders, ...list } = await listOf(folder, around);
  const { place, json } = asked;
  const shown = place === null ? holders : holders.filter((holder) => isAt(holder, place));
  if (json) around.out(JSON.stringify({ ...list, holders: shown }));
  else for (const line of render(shown, list)) around.out(line);
}

/** Asks the server, or opens its folder: until everything was looked at for the first time. */
async function listOf(folder: string, around: Around): Promise<ShownHolders> {
  for (;;) {
    const told = await askApi<ShownHolders>(folder, "/api/holders");
    if (told === null) break;
    if (told.atMs !== null) return told;
  }
  const { clock, failStop, err } = around;
  const place = { location: folder, memoryBytesMax: null };
  const data = await openData(place, clock, failStop, { tell: err });
  try {
    const all = new Holders([data.store]);
    for (;;) {
      const list = await all.list();
      if (list.atMs !== null) return list;
    }
  } finally {
    await data.close();
  }
}

function isAt(holder: ShownHolder, place: string): boolean {
  return `${nameOf(holder)}/`.startsWith(place.endsWith("/") ? place : `${place}/`);
}

function render(
  holders: readonly ShownHolder[],
  { atMs, isCut }: Pick<ShownHolders, "atMs" | "isCut">,
): string[] {
  const nowMs = atMs ?? 0;
  const seen = `Seen at ${new Date(nowMs).toISOString()}.`;
  if (holders.length === 0) return [`Nobody holds anything. ${seen}`];
  const rows = holders.map((holder) => {
    const { held } = holder;
    return [
      kindOf(held),
      holderOf(holder),
      termsOf(held),
      timeOf(held, nowMs) || "-",
      nameOf(holder),
    ];
  });
  const more = isCut ? " There are more than a list shows." : "";
  return [
    ...textTable([["what", "held by", "terms", "time", "on"], ...rows], "left"),
    "",
    `${countOf(holders.length, "holder")}. ${seen}${more}`,
  ];
}
