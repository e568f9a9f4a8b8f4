import type { Bytes } from "../../../base/bytes.ts";
import { type Stamp, stampOf } from "../../../base/stamp.ts";
import { Writer } from "./wire.ts";

const TICKS_PER_SECOND = 10_000_000n;
const GMT = /^@GMT-(\d{4})\.(\d\d)\.(\d\d)-(\d\d)\.(\d\d)\.(\d\d)$/i;
/** The least size of a response, even if no name fits. */
const ANSWER_BYTES_MIN = 16;

/** `@GMT-2026.11.16-06.54.00`: a snapshot's name, precise to the second. */
export function gmtOfStamp(stamp: Stamp): string {
  const iso = new Date(Number(stamp / TICKS_PER_SECOND) * 1_000).toISOString();
  const [date = "", time = ""] = iso.slice(0, 19).split("T");
  return `@GMT-${date.replaceAll("-", ".")}-${time.replaceAll(":", ".")}`;
}

/** The second of such a name; null if it is another name. */
export function stampOfGmt(name: string): Stamp | null {
  if (!name.startsWith("@")) return null;
  const [, year, month, day, hour, minute, second] = GMT.exec(name) ?? [];
  if (year === undefined) return null;
  const ms = Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}Z`);
  return Number.isNaN(ms) ? null : stampOf(ms);
}

export function isSameSecond(one: Stamp, other: Stamp): boolean {
  return one / TICKS_PER_SECOND === other / TICKS_PER_SECOND;
}

/** Writes the names, or only the size they need if there is too little room. */
export function writeSnapshots(stamps: readonly Stamp[], bytesMax: number): Bytes {
  const names = [...new Set(stamps.map(gmtOfStamp))];
  const list = new Writer();
  for (const name of names) list.text(name).u16(0);
  list.u16(0);
  const fits = 12 + list.length <= bytesMax;
  const answer = new Writer()
    .u32(names.length)
    .u32(fits ? names.length : 0)
    .u32(list.length);
  if (fits) answer.bytes(list.done());
  return answer.zeros(Math.max(0, ANSWER_BYTES_MIN - answer.length)).done();
}
