import assert from "node:assert/strict";
import { randomBytes, randomInt } from "node:crypto";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { SmbFiles, type SmbHandle } from "../smb/smb-files.ts";
import { contentOf, type FileState, fileAt, shareAt } from "./file-load.ts";
import type { WholeServerProcess } from "./server-process.ts";
import { type Change, describeBytes, StateWriter, type Subject } from "./state-writer.ts";

export const SMB_SHARE = "smb";
const FILE_BYTES_MAX = 150_000;
/** The largest write that needs no extra credits. */
const WRITE_BYTES_MAX = 60_000;

/** A file that is written over SMB. A write counts once a later FLUSH or CLOSE has succeeded. */
class SmbFileSubject implements Subject<FileState> {
  readonly name: string;
  #server: WholeServerProcess | null = null;
  #files: SmbFiles | null = null;
  #handle: SmbHandle | null = null;

  constructor(name: string) {
    this.name = name;
  }

  nextChange(before: FileState, server: WholeServerProcess): Change<FileState> {
    const text = randomBytes(randomInt(1, WRITE_BYTES_MAX / 2)).toString("hex");
    const length = before?.length ?? 0;
    const from = randomInt(Math.min(length, FILE_BYTES_MAX - text.length) + 1);
    const next = Buffer.alloc(Math.max(length, from + text.length));
    before?.copy(next);
    next.write(text, from);
    const make = () => this.#write(server, from, text, randomInt(2) === 0);
    return { next, make, between: before === null ? [Buffer.alloc(0)] : [] };
  }

  async #write(
    server: WholeServerProcess,
    from: number,
    text: string,
    closes: boolean,
  ): Promise<void> {
    const files = await this.#connected(server);
    this.#handle ??= await files.open(this.name, { access: READ | WRITE, disposition: "openIf" });
    const handle = this.#handle;
    requireSuccess(await files.write(handle, from, text));
    if (closes) this.#handle = null;
    requireSuccess(await (closes ? files.end(handle) : files.flush(handle)));
  }

  async #connected(server: WholeServerProcess): Promise<SmbFiles> {
    if (this.#server !== server || this.#files === null) {
      this.#files?.close();
      this.#handle = null;
      this.#server = server;
      this.#files = await SmbFiles.connect(server.smbPort, SMB_SHARE);
    }
    return this.#files;
  }

  read(server: WholeServerProcess): Promise<FileState> {
    return contentOf(fileAt(shareAt(server, SMB_SHARE), this.name));
  }

  describe(state: FileState): string {
    return describeBytes(state);
  }
}

function requireSuccess(status: number): void {
  assert.equal(status, 0, `status 0x${status.toString(16)}`);
}

export function newSmbWriter(name: string): StateWriter<FileState> {
  return new StateWriter(new SmbFileSubject(name), null);
}
