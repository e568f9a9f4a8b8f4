import assert from "node:assert/strict";
import { test } from "node:test";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { FILE_NEEDS } from "../../rules/file-needs.ts";
import { DELETE, READ } from "../../rules/share-mode.ts";
import { admitToTree } from "./admit.ts";
import { getFileProperties } from "./get-file-properties.ts";
import { ALL, Files, refused } from "./opens.fixture.ts";
import { pendingIn, requireNotOpen } from "./opens.ts";

const DELETER = { mode: { access: READ | DELETE, share: ALL } };

async function properties(files: Files, path: string) {
  return getFileProperties(files.context, files.at(path));
}

test("a file marked for deletion cannot be opened, and is deleted with its last handle", async () => {
  const files = await Files.open();
  await files.create("file", 3);
  const one = await files.open("file", DELETER);
  const two = await files.open("file");
  await files.mark(one, true);
  const pending = refused("DeletePending");
  await assert.rejects(properties(files, "file"), pending);
  await assert.rejects(files.read("file"), pending);
  await assert.rejects(files.create("file"), pending);
  await assert.rejects(files.open("file"), pending);
  await assert.rejects(files.open("file", { disposition: "create" }), pending);
  await files.close(one);
  await assert.rejects(properties(files, "file"), pending);
  await files.close(two);
  await assert.rejects(properties(files, "file"), refused("ResourceNotFound"));
  assert.equal(await files.recordsOfOpens(), 0);
});

test("the mark can be taken back", async () => {
  const files = await Files.open();
  await files.create("file", 3);
  const handle = await files.open("file", DELETER);
  await files.mark(handle, true);
  await files.mark(handle, true);
  await files.mark(handle, false);
  await properties(files, "file");
  await files.close(handle);
  await properties(files, "file");
  assert.equal(await files.recordsOfOpens(), 0);
});

test("a file opened with delete-on-close is deleted with its last handle", async () => {
  const files = await Files.open();
  await files.create("file");
  const deleting = await files.open("file", { ...DELETER, deletesOnClose: true });
  const other = await files.open("file");
  await properties(files, "file");
  await files.close(deleting);
  await assert.rejects(properties(files, "file"), refused("DeletePending"));
  await files.close(other);
  await assert.rejects(properties(files, "file"), refused("ResourceNotFound"));
  await files.create("file");
});

test("a handle without delete access marks nothing", async () => {
  const files = await Files.open();
  await files.create("file");
  const reader = await files.open("file");
  await assert.rejects(files.mark(reader, true), refused("AuthorizationPermissionMismatch"));
});

test("an item that is read-only or not empty is not marked", async () => {
  const files = await Files.open();
  await files.create("fixed", 0, FILE_ATTRIBUTES.ReadOnly);
  const fixed = await files.open("fixed", DELETER);
  await assert.rejects(files.mark(fixed, true), refused("ReadOnlyAttribute"));
  await files.createDirectory("dir");
  await files.create("dir/file");
  const notEmpty = refused("DirectoryNotEmpty");
  const full = await files.open("dir", DELETER);
  await assert.rejects(files.mark(full, true), notEmpty);
  const root = await files.open("", DELETER);
  await assert.rejects(files.mark(root, true), notEmpty);
});

test("nothing is created in a directory pending deletion, which is deleted with its last handle", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  const handle = await files.open("dir", DELETER);
  await files.mark(handle, true);
  const pending = refused("DeletePending");
  await assert.rejects(files.create("dir/file"), pending);
  await assert.rejects(files.createDirectory("dir/below"), pending);
  await assert.rejects(files.open("dir/file", { disposition: "create" }), pending);
  await files.close(handle);
  await files.createDirectory("dir");
});

test("a directory that is not empty stays when a delete-on-close handle closes", async () => {
  const files = await Files.open();
  await files.createDirectory("dir");
  const deleting = { ...DELETER, deletesOnClose: true };
  const handle = await files.open("dir", deleting);
  await files.create("dir/file");
  await files.close(handle);
  await files.close(await files.open("dir", deleting));
  await properties(files, "dir/file");
});

test("lists leave out the items that are pending deletion, and only those", async () => {
  const files = await Files.open();
  const file = await files.create("file");
  const other = await files.create("other");
  const pending = () =>
    files.store.read((view) => {
      const { tree } = admitToTree(view, files.at(""), FILE_NEEDS.listDirectoriesAndFiles);
      const isPending = pendingIn(view, tree, file.parent);
      return [isPending(file.id), isPending(other.id)];
    });
  assert.deepEqual(await pending(), [false, false]);
  const handle = await files.open("file", DELETER);
  await files.mark(handle, true);
  assert.deepEqual(await pending(), [true, false]);
  await files.mark(handle, false);
  assert.deepEqual(await pending(), [false, false]);
});

test("REST does not delete a directory that a client has open", async () => {
  const files = await Files.open();
  const { id } = await files.createDirectory("dir");
  const look = () =>
    files.store.read((view) => {
      const { tree } = admitToTree(view, files.at(""), FILE_NEEDS.deleteDirectory);
      requireNotOpen(view, tree, id);
    });
  await look();
  const handle = await files.open("dir", DELETER);
  await assert.rejects(look(), refused("CannotDeleteFileOrDirectory"));
  await files.mark(handle, true);
  await assert.rejects(look(), refused("DeletePending"));
});
