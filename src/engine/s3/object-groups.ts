import { copyParts } from "../../base/borrowed-buffer.ts";
import type { Bytes } from "../../base/bytes.ts";

/** Groups that are sent at a time. Bodies that arrive meanwhile gather in the next one. */
const GROUPS_AT_ONCE = 4;

export interface GroupSetup {
  /** The most bytes of a group's object. */
  readonly bytesMax: number;
  /** Begins an extent and returns its number. */
  begin(): number;
  /** Called for each body before it waits for its group: pins the extent. */
  pin(extent: number): void;
  /** Stores the object of an extent, which has its size now. */
  create(extent: number, body: Bytes): Promise<void>;
}

/** Where a body is in the object of its group. */
export interface GroupPlace {
  readonly extent: number;
  readonly offset: number;
}

/**
 * Gathers small bodies into objects. A group is sent at the end of the event loop's iteration, or
 * when an earlier one is done if several are on their way: a body that comes alone waits for
 * nothing, and under load many bodies share one request. Only whole bodies come here, so that no
 * group waits for a slow client.
 */
export class ObjectGroups {
  readonly #setup: GroupSetup;
  /** Groups that wait to be sent, the oldest first. The last one takes more bodies. */
  readonly #waiting: Group[] = [];
  #underWay = 0;
  #isAwake = false;

  constructor(setup: GroupSetup) {
    this.#setup = setup;
  }

  /** Finds a place for the pages of a body, and pins its extent. */
  add(pages: Bytes): { readonly place: GroupPlace; readonly stored: Promise<void> } {
    const group = this.#groupFor(pages.length);
    const place = { extent: group.extent, offset: group.bytes };
    group.bytes += pages.length;
    group.bodies.push(pages);
    this.#setup.pin(group.extent);
    this.#wake();
    return { place, stored: group.stored.promise };
  }

  /** Adds no more bodies to the group of an extent. */
  seal(extent: number): void {
    for (const group of this.#waiting) if (group.extent === extent) group.isSealed = true;
  }

  #groupFor(bytes: number): Group {
    const last = this.#waiting.at(-1);
    const hasRoom = last !== undefined && last.bytes + bytes <= this.#setup.bytesMax;
    if (hasRoom && !last.isSealed) return last;
    const extent = this.#setup.begin();
    const group: Group = { extent, bodies: [], bytes: 0, isSealed: false, stored: settleable() };
    this.#waiting.push(group);
    return group;
  }

  #wake(): void {
    if (this.#isAwake || this.#underWay >= GROUPS_AT_ONCE || this.#waiting.length === 0) return;
    this.#isAwake = true;
    setImmediate(() => {
      this.#isAwake = false;
      while (this.#underWay < GROUPS_AT_ONCE) {
        const next = this.#waiting.shift();
        if (next === undefined) return;
        void this.#send(next);
      }
    });
  }

  async #send({ extent, bodies, bytes, stored }: Group): Promise<void> {
    this.#underWay++;
    const whole = Buffer.allocUnsafeSlow(bytes);
    copyParts(bodies, whole);
    try {
      await this.#setup.create(extent, whole);
      stored.resolve();
    } catch (error) {
      stored.reject(error);
    }
    this.#underWay--;
    this.#wake();
  }
}

interface Group {
  readonly extent: number;
  readonly bodies: Bytes[];
  bytes: number;
  isSealed: boolean;
  readonly stored: Settleable;
}

interface Settleable {
  readonly promise: Promise<void>;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

function settleable(): Settleable {
  let [resolve, reject]: [() => void, (error: unknown) => void] = [() => {}, () => {}];
  const promise = new Promise<void>((onDone, onError) => {
    [resolve, reject] = [onDone, onError];
  });
  return { promise, resolve, reject };
}
