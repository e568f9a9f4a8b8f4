/** Extents of one front end. Both numbers together stay below 2^53. */
const EXTENTS_PER_FRONT_END = 2 ** 32;
const FRONT_ENDS_MAX = 2 ** 20;
const FOLDER = "extents/";
const NAME = /^([0-9a-f]{5})\/([0-9a-f]{8})$/;

/** The number of an extent: that of the front end that made it, and how many it made before. */
export function extentNumber(frontEnd: number, count: number): number {
  if (frontEnd >= FRONT_ENDS_MAX || count >= EXTENTS_PER_FRONT_END) {
    throw new RangeError(`no number is left for extent ${count} of front end ${frontEnd}`);
  }
  return frontEnd * EXTENTS_PER_FRONT_END + count;
}

/** The number of the front end that made an extent. */
export function makerOf(extent: number): number {
  return Math.floor(extent / EXTENTS_PER_FRONT_END);
}

/** The name of an extent's object, behind the prefix of all objects. */
export function objectName(extent: number): string {
  const count = extent % EXTENTS_PER_FRONT_END;
  return `${folderOf(makerOf(extent))}${count.toString(16).padStart(8, "0")}`;
}

/** What the names of all objects of a front end begin with. */
export function folderOf(frontEnd: number): string {
  return `${FOLDER}${frontEnd.toString(16).padStart(5, "0")}/`;
}

/** The extent of an object; null for a name that no extent has. */
export function extentOfName(name: string): number | null {
  if (!name.startsWith(FOLDER)) return null;
  const [, frontEnd, count] = NAME.exec(name.slice(FOLDER.length)) ?? [];
  if (frontEnd === undefined || count === undefined) return null;
  return extentNumber(Number.parseInt(frontEnd, 16), Number.parseInt(count, 16));
}
