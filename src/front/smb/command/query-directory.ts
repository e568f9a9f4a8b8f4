import { getOpenItem } from "../../../service/file/get-open-item.ts";
import { scanOpenDirectory } from "../../../service/file/scan-open-directory.ts";
import { type Answer, type Call, success } from "../call.ts";
import { ACCESS } from "../codec/access.ts";
import { shownItem } from "../codec/attributes.ts";
import { DirectoryListing } from "../codec/directory-info.ts";
import {
  type QueryDirectoryRequest,
  readQueryDirectory,
  SCAN_FLAG,
  writeOutput,
} from "../codec/query-directory.ts";
import type { FileOpen, Scan } from "../file-open.ts";
import { STATUS, StatusError } from "../nt-status.ts";

/** The directory itself and its parent, the first entries of every listing. */
const DOTS = [".", ".."];
/** The names of one read from the store: about as many as fit into a usual response. */
const PAGE_NAMES = 256;

export async function handleQueryDirectory(call: Call): Promise<Answer> {
  const request = readQueryDirectory(call.message);
  const open = call.open(request.fileId);
  call.expectCharge(request.outputBytesMax);
  if (open.kind !== "file" || !open.isDirectory) throw new StatusError(STATUS.INVALID_PARAMETER);
  open.expect(ACCESS.readData);
  const listing = new DirectoryListing(request.infoClass, request.outputBytesMax);
  const scan = scanOf(open, request);
  await fill(call, open, scan, listing, (request.flags & SCAN_FLAG.single) !== 0);
  if (listing.isEmpty) {
    if (!scan.isAtEnd) throw new StatusError(STATUS.INFO_LENGTH_MISMATCH);
    throw new StatusError(scan.hasFound ? STATUS.NO_MORE_FILES : STATUS.NO_SUCH_FILE);
  }
  scan.hasFound = true;
  return success(writeOutput(listing.done()));
}

/** Continues a listing, or restarts it, possibly with a new pattern, if the client asks. */
function scanOf(open: FileOpen, { flags, pattern }: QueryDirectoryRequest): Scan {
  const reopens = (flags & SCAN_FLAG.reopen) !== 0;
  const restarts = reopens || (flags & SCAN_FLAG.restart) !== 0;
  if (open.scan !== null && !restarts) return open.scan;
  if (open.scan === null && pattern === "") throw new StatusError(STATUS.OBJECT_NAME_INVALID);
  const isNew = open.scan === null || reopens || pattern !== "";
  const used = isNew && pattern !== "" ? pattern : (open.scan?.pattern ?? pattern);
  open.scan = { pattern: used, dots: 0, after: null, isAtEnd: false, hasFound: false };
  return open.scan;
}

async function fill(
  call: Call,
  open: FileOpen,
  scan: Scan,
  listing: DirectoryListing,
  isSingle: boolean,
): Promise<void> {
  if (!(await addDots(call, open, scan, listing, isSingle))) return;
  while (!scan.isAtEnd) {
    const { items, next } = await scanOpenDirectory(call.host.files, {
      ...open.asked,
      pattern: scan.pattern,
      after: scan.after,
      resultsMax: PAGE_NAMES,
    });
    for (const { item, isDirectory } of items) {
      if (!listing.add(shownItem(item, isDirectory), item.name)) return;
      scan.after = item.name;
      if (isSingle) return;
    }
    scan.after = next ?? scan.after;
    scan.isAtEnd = next === null;
  }
}

/** Adds `.` and `..`. True if there is room for more. */
async function addDots(
  { host }: Call,
  open: FileOpen,
  scan: Scan,
  listing: DirectoryListing,
  isSingle: boolean,
): Promise<boolean> {
  if (scan.dots >= DOTS.length) return true;
  if (!matchesDots(scan.pattern)) {
    scan.dots = DOTS.length;
    return true;
  }
  const { item } = await getOpenItem(host.files, open.asked);
  while (scan.dots < DOTS.length) {
    const name = DOTS[scan.dots] as string;
    if (!listing.add(shownItem(item, true), name)) return false;
    scan.dots++;
    if (isSingle) return false;
  }
  return true;
}

function matchesDots(pattern: string): boolean {
  return pattern === "*" || pattern === "*.*" || pattern === "<" || pattern === '<"*';
}
