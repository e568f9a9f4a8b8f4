import type { Bytes } from "../../../base/bytes.ts";
import { type FileId, readFileId } from "./file-id.ts";
import { COMMAND } from "./header.ts";
import { HEADER_BYTES } from "./wire.ts";

const FILE_ID_BYTES = 16;

/** Where requests have the id of their file, counted from the end of the header. */
const PLACES: ReadonlyMap<number, number> = new Map([
  [COMMAND.close, 8],
  [COMMAND.flush, 8],
  [COMMAND.read, 16],
  [COMMAND.write, 16],
  [COMMAND.lock, 8],
  [COMMAND.ioctl, 8],
  [COMMAND.queryDirectory, 8],
  [COMMAND.changeNotify, 8],
  [COMMAND.queryInfo, 24],
  [COMMAND.setInfo, 16],
  [COMMAND.oplockBreak, 8],
]);

/** The file that a request names, if it names one, of a message that nothing has checked yet. */
export function fileNamedIn(command: number, message: Bytes): FileId | null {
  const place = PLACES.get(command);
  if (place === undefined || message.length < HEADER_BYTES + place + FILE_ID_BYTES) return null;
  return readFileId(message, HEADER_BYTES + place);
}
