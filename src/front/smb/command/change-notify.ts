import { getOpenItem } from "../../../service/file/get-open-item.ts";
import { type Answer, answered, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import {
  type ChangeNotifyRequest,
  readChangeNotify,
  writeNotices,
} from "../codec/change-notify.ts";
import { writeOutput } from "../codec/query-directory.ts";
import type { FileOpen } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { type News, Watch } from "../watch.ts";

const NOTHING = Buffer.alloc(0);

/** Answers when something changes in a directory. */
export async function handleChangeNotify(call: Call): Promise<Answer> {
  const request = readChangeNotify(call.message);
  call.expectCharge(request.outputBytesMax);
  const open = call.open(request.fileId);
  if (open.kind !== "file" || !open.isDirectory) throw new StatusError(STATUS.INVALID_PARAMETER);
  open.expect(ACCESS.readData);
  // Nothing ever changes in a snapshot.
  if (open.asked.at.snapshot !== null) throw new StatusError(STATUS.NOT_SUPPORTED);
  const isFirst = open.watch === null;
  const watch = watchOf(call, open, request);
  const news = watch.now() ?? (await nextOf(call, open, watch, isFirst));
  if (news.kind === "doomed") throw new StatusError(STATUS.DELETE_PENDING);
  if (news.kind === "closed") throw new StatusError(STATUS.NOTIFY_CLEANUP);
  if (news.kind === "aborted") {
    throw new StatusError(open.ending.aborted ? STATUS.NOTIFY_CLEANUP : STATUS.CANCELLED);
  }
  const output = news.notices === null ? null : writeNotices(news.notices);
  if (output === null || output.length > request.outputBytesMax) {
    return answered(STATUS.NOTIFY_ENUM_DIR, [writeOutput(NOTHING)]);
  }
  return success(writeOutput(output));
}

/** The watch of an open; its first request decides the filter for all later ones. */
function watchOf({ host }: Call, open: FileOpen, request: ChangeNotifyRequest): Watch {
  const { recursive, filter, outputBytesMax } = request;
  const watching = { directory: open.asked.item, recursive, filter };
  open.watch ??= new Watch(host.files.store, open, watching, outputBytesMax);
  return open.watch;
}

async function nextOf(call: Call, open: FileOpen, watch: Watch, isFirst: boolean): Promise<News> {
  // A wait in the middle of a compound would block the requests behind it for ever.
  if (call.header.next !== 0) throw new StatusError(STATUS.INTERNAL_ERROR);
  const refused = new AbortController();
  // Takes its place before it waits for the store: the first request is answered first.
  const next = watch.next([call.pend(), open.ending, refused.signal]);
  try {
    // The watch does not report what happened before it began: the handle may be closed already.
    if (isFirst) {
      await call.host.files.store.heard(open.share);
      await expectOpen(call, open);
    }
  } catch (error) {
    refused.abort();
    throw error;
  }
  return next;
}

async function expectOpen({ host }: Call, open: FileOpen): Promise<void> {
  const { isDeletePending } = await getOpenItem(host.files, open.asked);
  if (isDeletePending) throw new StatusError(STATUS.DELETE_PENDING);
}
