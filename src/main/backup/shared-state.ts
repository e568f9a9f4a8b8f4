import { randomUUID } from "node:crypto";
import { eachBorrowed } from "../../base/borrowed-buffer.ts";
import { copyState } from "../../content/state-copy.ts";
import type { Extents } from "../../store/extents.ts";
import { choosePlace, type SharedAsked } from "../command-place.ts";
import { openData } from "../open-data.ts";
import type { Member } from "../shared-data.ts";
import { readRecordsAddress } from "../shared-place.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import { type CopiedState, untilEnd } from "./copied-state.ts";
import type { PieceSource } from "./pieces.ts";

/**
 * Opens the state of records that front ends share. The command joins the front ends, so that they
 * free nothing that it may still read.
 */
export async function openSharedState(
  asked: SharedAsked,
  { clock, failStop, schedule, err }: CommandSurroundings,
): Promise<CopiedState> {
  const options = { schedule, tell: err, guest: "lazuli backup" };
  const place = choosePlace(asked);
  const data = await openData(place, clock, failStop, options);
  const { frontEnd, extents } = data.member as Member;
  const unpin = frontEnd.pin();
  const copy = copyState(data.store, HELD_BY_FRONT_ENDS, randomUUID());
  return {
    form: "plain",
    location: readRecordsAddress(place.shared.records).shown,
    estimate: async () => null,
    parts: () => untilEnd(copy),
    pieces: () => new SharedPieces(extents),
    async close() {
      await copy.return();
      unpin();
      await data.close();
    },
  };
}

/** The front ends know from our heartbeat what we read: no extent is pinned by itself. */
const HELD_BY_FRONT_ENDS: Pick<Extents, "list" | "pin"> = {
  list: () => [],
  pin: () => ({ release() {} }),
};

/** Pieces as the bytes that were stored, whatever form they have in the bucket or folder. */
class SharedPieces implements PieceSource {
  readonly #extents: Pick<Extents, "pin" | "read">;

  constructor(extents: Pick<Extents, "pin" | "read">) {
    this.#extents = extents;
  }

  bytesOf({ length }: Parameters<PieceSource["bytesOf"]>[0]): number {
    return length;
  }

  async read(...[at, take]: Parameters<PieceSource["read"]>): Promise<void> {
    const pin = this.#extents.pin([at.extent]);
    try {
      await eachBorrowed(this.#extents.read(at, 0, at.length), async (parts) => {
        for (const part of parts) await take(part);
      });
    } finally {
      pin.release();
    }
  }

  async close(): Promise<void> {}
}
