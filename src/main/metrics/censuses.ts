import type { Counted } from "../../service/shared/counted-records.ts";
import type { Census, CensusFigures } from "./census.ts";

/** The censuses of all databases, as one. Those that have not ended yet are not in it. */
export class Censuses implements Pick<Census, "figures" | "refresh" | "stop"> {
  readonly #all: readonly Census[];

  constructor(all: readonly Census[]) {
    this.#all = all;
  }

  get figures(): CensusFigures | null {
    const known = this.#all.flatMap(({ figures }) => (figures === null ? [] : [figures]));
    const [first, ...others] = known;
    if (first === undefined || others.length === 0) return first ?? null;
    const oldest = known.flatMap(({ oldestMessageMs: ms }) => (ms === null ? [] : [ms]));
    const sum = (of: (one: CensusFigures) => number) =>
      known.reduce((total, one) => total + of(one), 0);
    return {
      begunMs: Math.min(...known.map(({ begunMs }) => begunMs)),
      endedMs: Math.max(...known.map(({ endedMs }) => endedMs)),
      records: sum(({ records }) => records),
      count: (counted: Counted) => sum((one) => one.count(counted)),
      oldestMessageMs: oldest.length === 0 ? null : Math.min(...oldest),
      liveBytes: sum(({ liveBytes }) => liveBytes),
    };
  }

  async refresh(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.refresh()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#all.map((one) => one.stop()));
  }
}
