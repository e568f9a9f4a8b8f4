import type { Body } from "../base/bytes.ts";
import type { Taken } from "../store/content.ts";
import type { Contents } from "../store/contents.ts";

/** The operations on contents that maps need for their larger pieces. */
export interface MapContents extends Pick<Contents, "keep" | "share" | "drop"> {
  take(body: Body): Promise<Taken>;
  /** Stores a body in an extent, even if it is small. */
  takeToExtent(body: Body): Promise<Taken>;
}
