import type { Body } from "../../base/bytes.ts";
import { type BodyDigests, refuseByDigests } from "../../base/digests.ts";
import { Fault } from "../../base/fault.ts";
import { type FileTime, fileTimeOfStamp } from "../../base/file-time.ts";
import type { Versioned } from "../../rules/conditions.ts";
import type { Content } from "../../store/contents.ts";
import type { Transaction, View } from "../../store/store.ts";
import { admitFileUpdate, type InFile } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

interface RangeWrite extends FileAsked {
  readonly from: number;
  /** The first byte behind the range. It must lie within the file. */
  readonly until: number;
  /** Whether the time of the last write stays what it is. */
  readonly preservesWritten: boolean;
}

export interface PutRange extends RangeWrite {
  /** As long as the range. */
  readonly body: Body;
  /** What the client says the body's digests are. */
  readonly digests: BodyDigests;
}

export interface PutRangeDone extends Versioned, BodyDigests {
  readonly written: FileTime;
}

export async function putRange(context: FileContext, asked: PutRange): Promise<PutRangeDone> {
  // A cheap refusal before the body is taken. It proves nothing: the transaction below decides.
  await context.store.read((view) => admit(view, asked));

  const { contents, store } = context;
  const taken = await contents.take(asked.body, { md5: true, crc64: false });
  try {
    refuseByDigests(asked.digests, taken);
    const done = await store.transact((tx) =>
      change(context, tx, asked, (content) => contents.maps.write(tx, content, asked.from, taken)),
    );
    return { ...done, md5: taken.md5, crc64: null };
  } finally {
    taken.release();
  }
}

/** Makes zeroes of a range, and gives its space back. */
export async function clearRange(context: FileContext, asked: RangeWrite): Promise<PutRangeDone> {
  const { maps } = context.contents;
  const done = await context.store.transact((tx) =>
    change(context, tx, asked, (content) => maps.clear(tx, content, asked.from, asked.until)),
  );
  return { ...done, md5: null, crc64: null };
}

/** The order of these lines is the order of the answers a client can see. */
function admit(view: View, asked: RangeWrite): InFile {
  const { from, until } = asked;
  const admitted = admitFileUpdate(view, asked, "putRange", { from, length: until - from });
  const { length } = admitted.file.content;
  if (asked.until > length) {
    throw new Fault("InvalidRange", {
      Reason: `The file ends at byte ${length}: resize it first.`,
    });
  }
  return admitted;
}

function change(
  { contents }: FileContext,
  tx: Transaction,
  asked: RangeWrite,
  changed: (content: Content) => Content,
): Versioned & { written: FileTime } {
  const { tree, file } = admit(tx, asked);
  const version = nextFileVersion(tx, tree, contents, file);
  const written = asked.preservesWritten ? file.written : fileTimeOfStamp(version.etag);
  writeFile(tx, tree, { ...file, ...version, written, content: changed(file.content) });
  return { etag: version.etag, modifiedMs: version.modifiedMs, written };
}
