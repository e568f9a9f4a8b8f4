/**
 * Names of objects as paths of files, and back. A file system cannot hold every name: some
 * characters, empty segments, dots, long segments, and a file beside a folder of its name.
 */

/** Characters that some file system refuses, and the sign of an escape. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what has to be escaped
const UNSAFE = /[%\x00-\x1f\x7f<>:"|?*\\]|[. ]$|\p{Surrogate}/gu;
/** Names that Windows gives to devices. */
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)(?=$|\.)/i;
/** Shorter than the 255 bytes that most file systems permit. */
const SEGMENT_BYTES_MAX = 200;
/** A segment that is empty, one that goes on in the next folder, and a folder beside a file. */
const [EMPTY, CONTINUED, BESIDE] = ["%_", "%+", "%="] as const;

/** The path of a file for a name with slashes. `isFile` tells of names that files have already. */
export function pathOfName(name: string, isFile: (name: string) => boolean = () => false): string {
  const segments = name.split("/");
  const parts = segments.map((segment, at) => {
    const isFolder = at < segments.length - 1;
    const isBeside = isFolder && isFile(segments.slice(0, at + 1).join("/"));
    return pathOfSegment(segment) + (isBeside ? BESIDE : "");
  });
  return parts.join("/");
}

/** Needs no escapes, unless a device has its name. Most segments are such. */
const PLAIN = /^[\w-](?:[\w.-]{0,100}[\w-])?$/;

function pathOfSegment(segment: string): string {
  if (segment === "") return EMPTY;
  if (PLAIN.test(segment) && !DEVICE.test(segment)) return segment;
  const escaped = segment
    .replaceAll(UNSAFE, (char) => escapeOf(char))
    .replace(DEVICE, (word) => escapeOf(word[0] as string) + word.slice(1));
  if (Buffer.byteLength(escaped) <= SEGMENT_BYTES_MAX) return escaped;
  return chunks(escaped).join(`${CONTINUED}/`);
}

function escapeOf(char: string): string {
  // Half of a surrogate pair has no UTF-8.
  if (char.length === 1 && char >= "\ud800" && char <= "\udfff") {
    return `%u${char.charCodeAt(0).toString(16)}`;
  }
  return [...Buffer.from(char)].map((byte) => `%${hex(byte)}`).join("");
}

function hex(byte: number): string {
  return byte.toString(16).toUpperCase().padStart(2, "0");
}

/** Cuts between characters, and not within an escape. */
function chunks(escaped: string): string[] {
  const found: string[] = [];
  let chunk = "";
  let bytes = 0;
  for (const [unit] of escaped.matchAll(/%u[\da-f]{4}|%[\dA-F]{2}|./gsu)) {
    const more = Buffer.byteLength(unit);
    if (bytes + more > SEGMENT_BYTES_MAX) {
      found.push(chunk);
      chunk = "";
      bytes = 0;
    }
    chunk += unit;
    bytes += more;
  }
  return [...found, chunk];
}

/** The name that has this path. */
export function nameOfPath(path: string): string {
  return path
    .split("/")
    .map((part) => (part.endsWith(BESIDE) ? part.slice(0, -BESIDE.length) : part))
    .map((part) => (part.endsWith(CONTINUED) ? part.slice(0, -CONTINUED.length) : `${part}/`))
    .map((part) => (part === `${EMPTY}/` ? "/" : part))
    .join("")
    .slice(0, -1)
    .replaceAll(/%u([\da-f]{4})/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)))
    .replaceAll(/(?:%[\dA-F]{2})+/g, (found) =>
      Buffer.from(found.replaceAll("%", ""), "hex").toString("utf8"),
    );
}

/**
 * Knows which names of a sorted list are beginnings of the next ones: with a file `a`, the folder
 * of `a/b` needs another name. Remembers only names that can still be one.
 */
export class NamesBefore {
  #names: string[] = [];

  /** Adds a name; names come in the order of a list. */
  add(name: string): void {
    // "0" is the character behind "/".
    this.#names = this.#names.filter((before) => name < `${before}0`);
    this.#names.push(name);
  }

  readonly has = (name: string): boolean => this.#names.includes(name);
}
