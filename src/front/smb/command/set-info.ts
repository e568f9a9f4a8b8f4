import type { TimeSetting } from "../../../service/file/item-settings.ts";
import { renameOpenItem } from "../../../service/file/rename-open-item.ts";
import { setDeletePending } from "../../../service/file/set-delete-pending.ts";
import { resizeOpenFile, setOpenItem } from "../../../service/file/set-open-item.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { askedAttributes } from "../codec/attributes.ts";
import { INFO_TYPE } from "../codec/query-info.ts";
import { type FileChange, readFileChange } from "../codec/set-file-info.ts";
import { readSetInfo, writeSetInfo } from "../codec/set-info.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { pathOf } from "../path.ts";

export async function handleSetInfo(call: Call): Promise<Answer> {
  const { type, infoClass, fileId, input } = readSetInfo(call.message);
  const open = call.open(fileId);
  call.expectCharge(input.length);
  if (open.kind !== "file" || type !== INFO_TYPE.file) throw new StatusError(STATUS.NOT_SUPPORTED);
  await apply(call, open, readFileChange(infoClass, input));
  return success(writeSetInfo());
}

async function apply({ server }: Call, open: FileOpen, change: FileChange): Promise<void> {
  const { files } = server.options;
  const { asked } = open;
  const preservesWritten = open.writeTime.isHeld;
  switch (change.kind) {
    case "basic":
      open.expect(ACCESS.writeAttributes);
      return await setBasic(server.options.files, open, change);
    case "rename":
      open.expect(ACCESS.delete);
      return await renameOpenItem(files, {
        ...asked,
        path: pathOf(change.name.replace(/^\\/, "")),
        replaces: change.replaces,
      });
    case "disposition":
      open.expect(ACCESS.delete);
      return await setDeletePending(files, { ...asked, isPending: change.deletes });
    case "size":
      open.expect(ACCESS.writeData);
      await resizeOpenFile(files, { ...asked, length: change.size, preservesWritten });
      return await open.writeTime.settle();
    case "allocation":
      open.expect(ACCESS.writeData);
      return;
    case "position":
      open.position = change.position;
      return;
    case "mode":
      open.mode = change.mode;
      return;
  }
}

/** Instead of a time: it stays, and from now on nothing that this open does changes it. */
const HOLD = -1n;

/** Directories last. */
const TEMPORARY = 0x100;

async function setBasic(
  files: Parameters<typeof setOpenItem>[0],
  open: FileOpen,
  change: FileChange & { kind: "basic" },
): Promise<void> {
  const times = [change.created, change.accessed, change.written, change.changed];
  if (times.some((time) => time < -2n)) throw new StatusError(STATUS.INVALID_PARAMETER);
  if (open.isDirectory && (change.attributes & TEMPORARY) !== 0) {
    throw new StatusError(STATUS.INVALID_PARAMETER);
  }
  const settings = {
    attributes: askedAttributes(change.attributes),
    created: timeSetting(change.created),
    accessed: timeSetting(change.accessed),
    written: timeSetting(change.written),
    changed: change.changed === HOLD ? ("hold" as const) : timeSetting(change.changed),
  };
  await open.writeTime.settle();
  await setOpenItem(files, { ...open.asked, settings });
  if (change.written > 0n || change.written === HOLD) open.writeTime.hold(true);
  else if (change.written < HOLD) open.writeTime.hold(false);
}

function timeSetting(time: bigint): TimeSetting {
  return time > 0n ? time : null;
}
