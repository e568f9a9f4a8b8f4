import type { Bytes } from "../base/bytes.ts";
import { prefetch } from "../store/accelerated.ts";
import type { Content } from "../store/content.ts";
import type { Part } from "../store/contents.ts";
import type { View } from "../store/store.ts";
import { partsOver } from "./content-reading.ts";
import { keysToOpen, readInline } from "./content-records.ts";
import { layersOf, piecesOf } from "./range-pieces.ts";
import type { RangeEntry, RangeSource } from "./range-records.ts";

/** Pieces that one transaction shares at most. For more, callers copy the bytes instead. */
const PIECES_MAX = 2_000;
/** Bytes of inline pieces that one transaction copies at most, since entries contain them. */
const INLINE_BYTES_MAX_AT_ONCE = 1024 * 1024;

/** The parts of leaves that make up these bytes of a leaf or list; null if they are too many. */
export function leavesOver(
  view: View,
  content: Content,
  from: number,
  until: number,
): Part[] | null {
  const parts: Part[] = [];
  for (const part of leaves(view, content, from, until)) {
    if (parts.length === PIECES_MAX) return null;
    parts.push(part);
  }
  return parts;
}

/**
 * Bytes of any content as entries of a map in which they begin at `at`, without entries for zeroes;
 * null if they are too many.
 */
export function entriesShowing(
  view: View,
  content: Content,
  from: number,
  until: number,
  at: number,
): RangeEntry[] | null {
  const entries: RangeEntry[] = [];
  let visited = 0;
  let inlineBytes = 0;
  for (const { start, length, source } of pieces(view, content, from, until)) {
    if (source.kind === "inline") inlineBytes += length;
    // Zeroes count, too: visiting them takes time.
    if (visited++ === PIECES_MAX || inlineBytes > INLINE_BYTES_MAX_AT_ONCE) return null;
    if (source.kind === "zero") continue;
    entries.push({ start: at + start - from, length, source });
  }
  return entries;
}

function* leaves(view: View, content: Content, from: number, until: number): Iterable<Part> {
  if (content.kind !== "list") {
    if (from < until) yield { content, from, length: until - from, name: "" };
    return;
  }
  for (const part of partsOver(view, content, from, until)) {
    yield* leaves(view, part.content, part.first, part.end);
  }
}

function* pieces(view: View, content: Content, from: number, until: number): Iterable<RangeEntry> {
  if (content.kind === "map") {
    yield* piecesOf(view, layersOf(view, content.id) ?? [], from, until);
    return;
  }
  let start = from;
  prefetch(view, () => keysOfInlineParts(view, content, from, until));
  for (const part of leaves(view, content, from, until)) {
    yield { start, length: part.length, source: sourceOf(view, part) };
    start += part.length;
  }
}

function keysOfInlineParts(view: View, content: Content, from: number, until: number): Bytes[] {
  const parts = leavesOver(view, content, from, until) ?? [];
  return keysToOpen(parts.map((part) => part.content).filter(({ kind }) => kind === "inline"));
}

function sourceOf(view: View, { content, from, length }: Part): RangeSource {
  if (content.kind !== "inline") return { kind: "leaf", content, from };
  return { kind: "inline", bytes: readInline(view, content.id).subarray(from, from + length) };
}
