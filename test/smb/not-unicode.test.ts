import assert from "node:assert/strict";
import { test } from "node:test";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { Writer } from "../../src/front/smb/codec/wire.ts";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import { boxForThisFile } from "./box.ts";

const { share, files } = await boxForThisFile();

/** Halves of surrogate pairs: alone, in the wrong order, and beside a whole pair. */
const HALVES = ["\ud800", "a\udfffb", "\ude00\ud83d", "😀\ud83d"];
const FILE_INFO = 1;
const RENAME_CLASS = 10;

test("names with half a surrogate pair cannot be created, opened or renamed to over SMB", async () => {
  for (const name of HALVES) {
    for (const disposition of ["create", "openIf", "open"] as const) {
      const { status } = await files.tryOpen(name, { disposition, access: READ | WRITE });
      assert.equal(status, STATUS.OBJECT_NAME_INVALID, `${disposition} ${JSON.stringify(name)}`);
    }
    const below = await files.tryOpen(`${name}/file`, { disposition: "create" });
    assert.equal(below.status, STATUS.OBJECT_NAME_INVALID);
  }
  const handle = await files.open("whole-😀", {
    disposition: "create",
    access: READ | WRITE | DELETE,
  });
  for (const name of HALVES) {
    const text = Buffer.from(name, "utf16le");
    const info = new Writer().zeros(16).u32(text.length).bytes(text).done();
    const body = new Writer()
      .u16(33)
      .u8(FILE_INFO)
      .u8(RENAME_CLASS)
      .u32(info.length)
      .u32(96)
      .u32(0);
    const { status } = await files.client.call(
      COMMAND.setInfo,
      body.bytes(handle).bytes(info).done(),
    );
    assert.equal(status, STATUS.OBJECT_NAME_INVALID, JSON.stringify(name));
  }
  assert.equal(await files.end(handle), 0);
  const names: string[] = [];
  for await (const item of share.rootDirectoryClient.listFilesAndDirectories()) {
    names.push(item.name);
  }
  assert.deepEqual(names, ["whole-😀"]);
});
