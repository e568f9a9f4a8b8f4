import { fileTimeOfStamp } from "../../../base/file-time.ts";
import { GIB } from "../../../base/limits.ts";
import {
  getOpenItem,
  getOpenPermission,
  type OpenItemFound,
} from "../../../service/file/get-open-item.ts";
import { type Answer, answered, type Call } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { shownItem } from "../codec/attributes.ts";
import { type Fitted, writeFileInfo } from "../codec/file-info.ts";
import { writeFileSystemInfo } from "../codec/file-system-info.ts";
import { writeOutput } from "../codec/query-directory.ts";
import { INFO_TYPE, type QueryInfoRequest, readQueryInfo } from "../codec/query-info.ts";
import { partsOf, writeSecurityInfo } from "../codec/security-info.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";

export async function handleQueryInfo(call: Call): Promise<Answer> {
  const request = readQueryInfo(call.message);
  const open = call.open(request.fileId);
  call.expectCharge(Math.max(request.outputBytesMax, request.input.length));
  if (open.kind !== "file") throw new StatusError(STATUS.NOT_SUPPORTED);
  const { bytes, isCut } = await infoOf(call, request, open);
  const status = isCut ? STATUS.BUFFER_OVERFLOW : STATUS.SUCCESS;
  return answered(status, [writeOutput(bytes)]);
}

async function infoOf({ host }: Call, request: QueryInfoRequest, open: FileOpen): Promise<Fitted> {
  const { infoClass, outputBytesMax } = request;
  const { files } = host;
  switch (request.type) {
    case INFO_TYPE.file:
      return fileInfo(infoClass, open, await getOpenItem(files, open.asked), outputBytesMax);
    case INFO_TYPE.fileSystem: {
      const volume = volumeOf(open, await getOpenItem(files, open.asked));
      return writeFileSystemInfo(infoClass, volume, outputBytesMax);
    }
    case INFO_TYPE.security:
      return securityInfo(request, open, await getOpenPermission(files, open.asked));
    case INFO_TYPE.quota:
      throw new StatusError(STATUS.NOT_SUPPORTED);
    default:
      throw new StatusError(STATUS.INVALID_PARAMETER);
  }
}

/** Classes that every handle may query. */
const OPEN_TO_ALL: readonly number[] = [5, 6, 7, 8, 14, 16, 17, 21, 22, 28, 48, 59];

function fileInfo(
  infoClass: number,
  open: FileOpen,
  { item, isDirectory, path, isDeletePending }: OpenItemFound,
  bytesMax: number,
): Fitted {
  if (!OPEN_TO_ALL.includes(infoClass)) open.expect(ACCESS.readAttributes);
  const info = {
    item: shownItem(item, isDirectory),
    path: `\\${path.replaceAll("/", "\\")}`,
    isDeletePending,
    granted: open.granted,
    position: open.position,
    mode: open.mode,
  };
  return writeFileInfo(infoClass, info, bytesMax);
}

function securityInfo(
  { additional, outputBytesMax }: QueryInfoRequest,
  open: FileOpen,
  permission: string,
): Fitted {
  const parts = partsOf(additional);
  if (parts.owner || parts.group || parts.dacl) open.expect(ACCESS.readControl);
  if (parts.sacl) open.expect(ACCESS.systemSecurity);
  const bytes = writeSecurityInfo(permission, parts);
  if (bytes.length > outputBytesMax) throw new StatusError(STATUS.BUFFER_TOO_SMALL);
  return { bytes, isCut: false };
}

function volumeOf({ asked }: FileOpen, { quotaGib }: OpenItemFound) {
  const quotaBytes = quotaGib * GIB;
  return {
    label: asked.at.share,
    serial: Number(asked.item & 0xffffffffn),
    created: fileTimeOfStamp(0n),
    quotaBytes,
    freeBytes: quotaBytes,
  };
}
