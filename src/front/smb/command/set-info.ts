import type { Bytes } from "../../../base/bytes.ts";
import { Fault } from "../../../base/fault.ts";
import type { TimeSetting } from "../../../service/file/item-settings.ts";
import { renameOpenItem } from "../../../service/file/rename-open-item.ts";
import { setDeletePending } from "../../../service/file/set-delete-pending.ts";
import { resizeOpenFile, setOpenItem } from "../../../service/file/set-open-item.ts";
import { setOpenPermission } from "../../../service/file/set-open-permission.ts";
import { afterCacheBreaks } from "../after-cache-breaks.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { askedAttributes } from "../codec/attributes.ts";
import { INFO_TYPE } from "../codec/query-info.ts";
import { partsOf, readSecurityInfo } from "../codec/security-info.ts";
import { type FileChange, readFileChange } from "../codec/set-file-info.ts";
import { readSetInfo, writeSetInfo } from "../codec/set-info.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { pathOf } from "../path.ts";

export async function handleSetInfo(call: Call): Promise<Answer> {
  const { type, infoClass, additional, fileId, input } = readSetInfo(call.message);
  const open = call.open(fileId);
  call.expectCharge(input.length);
  if (open.kind !== "file") throw new StatusError(STATUS.NOT_SUPPORTED);
  switch (type) {
    case INFO_TYPE.file:
      await change(call, open, readFileChange(infoClass, input));
      break;
    case INFO_TYPE.security:
      await setSecurity(call, open, additional, input);
      break;
    default:
      throw new StatusError(STATUS.NOT_SUPPORTED);
  }
  return success(writeSetInfo());
}

async function change(call: Call, open: FileOpen, asked: FileChange): Promise<void> {
  await afterCacheBreaks(call, () => apply(call, open, asked));
}

async function setSecurity(
  { host }: Call,
  open: FileOpen,
  additional: number,
  input: Bytes,
): Promise<void> {
  const parts = partsOf(additional);
  if (parts.owner || parts.group) open.expect(ACCESS.writeOwner);
  if (parts.dacl) open.expect(ACCESS.writeDac);
  if (parts.sacl) open.expect(ACCESS.systemSecurity);
  const descriptor = readSecurityInfo(input);
  await setOpenPermission(host.files, { ...open.asked, parts, descriptor });
}

async function apply({ host }: Call, open: FileOpen, change: FileChange): Promise<void> {
  const { files } = host;
  const { asked } = open;
  const preservesWritten = open.writeTime.isSetByClient;
  switch (change.kind) {
    case "basic":
      open.expect(ACCESS.writeAttributes);
      return await setBasic(host.files, open, change);
    case "rename":
      open.expect(ACCESS.delete);
      return await renameOpenItem(files, {
        ...asked,
        path: pathOf(change.name.replace(/^\\/, "")),
        replaces: change.replaces,
      });
    case "disposition":
      open.expect(ACCESS.delete);
      return await setDeletePending(files, { ...asked, isPending: change.deletes }).catch(
        throwCannotDelete,
      );
    case "size":
      open.expect(ACCESS.writeData);
      await resizeOpenFile(files, {
        ...asked,
        length: change.size,
        neverGrows: false,
        preservesWritten,
      });
      return await open.writeTime.flush();
    case "allocation":
      open.expect(ACCESS.writeData);
      return await resizeOpenFile(files, {
        ...asked,
        length: change.size,
        neverGrows: true,
        preservesWritten,
      });
    case "position":
      open.position = change.position;
      return;
    case "mode":
      open.mode = change.mode;
      return;
  }
}

/** Translates the refusal to delete a read-only file, which has its own status. */
function throwCannotDelete(error: unknown): never {
  const isReadOnly = error instanceof Fault && error.code === "ReadOnlyAttribute";
  throw isReadOnly ? new StatusError(STATUS.CANNOT_DELETE) : error;
}

/** A special time: it stays, and nothing that this open does changes it from now on. */
const HOLD = -1n;

/** Not allowed for directories. */
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
  await open.writeTime.flush();
  await setOpenItem(files, { ...open.asked, settings });
  if (change.written > 0n || change.written === HOLD) open.writeTime.setByClient(true);
  else if (change.written < HOLD) open.writeTime.setByClient(false);
}

function timeSetting(time: bigint): TimeSetting {
  return time > 0n ? time : null;
}
