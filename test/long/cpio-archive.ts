/** A folder if it has no content. */
export interface ArchiveFile {
  readonly path: string;
  readonly content?: Buffer;
}

const FOLDER_MODE = 0o040_755;
const PROGRAM_MODE = 0o100_755;
const ALIGNMENT = 4;
const LAST = "TRAILER!!!";

/** The "newc" form of cpio, which Linux takes as its first file system. */
export function cpioArchive(files: readonly ArchiveFile[]): Buffer {
  const parts = files.map(({ path, content }, index) => entry(path, content, index + 1));
  return Buffer.concat([...parts, entry(LAST, Buffer.alloc(0), 0)]);
}

function entry(path: string, content: Buffer | undefined, inode: number): Buffer {
  const mode = content === undefined ? FOLDER_MODE : PROGRAM_MODE;
  const bytes = content ?? Buffer.alloc(0);
  const name = Buffer.from(`${path}\0`);
  const [owner, group, links, time, device] = [0, 0, 1, 0, 0];
  const fields = [inode, mode, owner, group, links, time, bytes.length, device, device];
  const rest = [device, device, name.length, 0];
  const numbers = [...fields, ...rest].map((field) => field.toString(16).padStart(8, "0"));
  const head = Buffer.concat([Buffer.from(`070701${numbers.join("")}`), name]);
  return Buffer.concat([padded(head), padded(bytes)]);
}

function padded(bytes: Buffer): Buffer {
  return Buffer.concat([bytes, Buffer.alloc(-bytes.length & (ALIGNMENT - 1))]);
}
