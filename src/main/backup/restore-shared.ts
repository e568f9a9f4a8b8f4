import { type FileHandle, open } from "node:fs/promises";
import type { Body } from "../../base/bytes.ts";
import { key, keyAfter, SPACE } from "../../base/keys.ts";
import { MIB } from "../../base/limits.ts";
import { originOf } from "../../content/extent-origins.ts";
import { forgetUses, rewriteContents } from "../../content/restored-contents.ts";
import type { CopiedRecord } from "../../content/state-copy.ts";
import type { Address } from "../../store/extents.ts";
import { isDamageError, StoreError, type View } from "../../store/store.ts";
import { choosePlace, type SharedAsked } from "../command-place.ts";
import { endEarlierRun } from "../end-earlier-run.ts";
import { type Data, openData } from "../open-data.ts";
import { ProgressBar } from "../progress-bar.ts";
import type { Member } from "../shared-data.ts";
import { RESTORE_KEY, readRecordsAddress } from "../shared-place.ts";
import { DamageFound, StartError } from "../start-error.ts";
import type { CommandSurroundings } from "../surroundings.ts";
import { Verifier } from "../verifier.ts";
import type { BackupPlace, Manifest } from "./backup-place.ts";
import { readPack, readPackIndex } from "./packs.ts";
import { decodeRecords } from "./record-frames.ts";
import { bytesOf, type Restored, stepsOf, write } from "./restored-records.ts";

const READ_BYTES = 4 * MIB;
/** Records about front ends and extents: those of the restored ones are others. */
const NOT_RESTORED: readonly number[] = [
  SPACE.extentUse,
  SPACE.extentMaker,
  SPACE.extentPlace,
  SPACE.extentOrigins,
  SPACE.frontEnd,
  SPACE.endedFrontEnd,
  SPACE.leader,
  SPACE.peerMessage,
  SPACE.watchedShare,
];

/** Restores a backup into records without data and their bytes, and verifies it there. */
export async function restoreShared(
  place: BackupPlace,
  manifest: Manifest,
  asked: SharedAsked,
  json: boolean,
  around: CommandSurroundings,
): Promise<Restored> {
  const target = choosePlace(asked);
  const location = readRecordsAddress(target.shared.records).shown;
  const { clock, failStop, schedule, err } = around;
  const options = { schedule, tell: err, guest: "lazuli restore", restores: manifest.name };
  const data = await openData(target, clock, failStop, options);
  try {
    await prepare(data, manifest, location);
    const bar = barOf(manifest, json, around);
    const done = await new SharedRestore(place, manifest, data, bar).run();
    await data.store.transact((tx) => tx.delete(RESTORE_KEY));
    return { location, ...done };
  } catch (error) {
    throw failure(error, location);
  } finally {
    await data.close();
  }
}

function barOf(
  { records, recordBytes, pieceBytes }: Manifest,
  json: boolean,
  around: CommandSurroundings,
) {
  // Packs are read twice, and everything once more to verify it.
  const total = { objects: 2 * records, bytes: 2 * recordBytes + 3 * pieceBytes };
  return new ProgressBar(around.progress, { clock: around.clock, total, noun: "records", json });
}

/** Marks the records, so that no front end starts on a part of them. */
async function prepare({ store, member }: Data, { name, stamp }: Manifest, location: string) {
  const others = (await member?.frontEnd.members())?.filter(({ isThis }) => !isThis) ?? [];
  if (others.length > 0) {
    throw new StartError(
      `Front ends run on the records at ${location}: a backup is restored to records without data, ` +
        "which nobody uses.",
    );
  }
  const refusal = await store.transact((tx) => {
    const half = tx.get(RESTORE_KEY)?.toString();
    if (half === undefined && hasData(tx)) return "They have data already";
    if (half !== undefined && half !== name)
      return `The restore of another backup, ${half}, has begun there`;
    if (tx.stamp() <= BigInt(stamp))
      return "The clock of that server is behind the one of the backup";
    tx.set(RESTORE_KEY, Buffer.from(name));
    return null;
  });
  if (refusal === null) return;
  throw new StartError(
    `Nothing is restored to the records at ${location}. ${refusal}: choose another database, or ` +
      "another schema with ?schema=NAME, and another place for the bytes.",
  );
}

/** Where data is: between these are records about extents and front ends. */
const DATA = [
  [key(SPACE.content), keyAfter(key(SPACE.content))],
  [key(SPACE.serviceProperties), key(SPACE.extentOrigins)],
  [key(SPACE.container), key(SPACE.peerMessage)],
] as const;

function hasData(view: View): boolean {
  return DATA.some(([from, until]) => view.range(from, until, { limit: 1 }).length > 0);
}

function failure(error: unknown, location: string): unknown {
  const half = `What is at ${location} is not complete, and no front end starts on it: restore the same backup again.`;
  if (isDamageError(error)) return new DamageFound(`${error.message}. ${half}`);
  if (error instanceof DamageFound) return new DamageFound(`${error.message} ${half}`);
  if (error instanceof StoreError)
    return new StartError(`The backup is not restored: ${error.message}. ${half}`);
  return error;
}

class SharedRestore {
  readonly #place: BackupPlace;
  readonly #manifest: Manifest;
  readonly #data: Data;
  readonly #bar: ProgressBar;
  #records = 0;
  #bytes = 0;

  constructor(place: BackupPlace, manifest: Manifest, data: Data, bar: ProgressBar) {
    this.#place = place;
    this.#manifest = manifest;
    this.#data = data;
    this.#bar = bar;
  }

  async run(): Promise<{ records: number; bytes: number }> {
    const packs = new PackedPieces(this.#place);
    try {
      for (const name of this.#manifest.packs) {
        await packs.add(name, (bytes) => this.#show(0, bytes));
      }
      await forgetUses(this.#data.store);
      await this.#restoreRecords();
      await this.#restoreBytes(packs);
      // What the front ends of the backup had open, or were copying, ended with them.
      await endEarlierRun(this.#data);
      return await this.#verify();
    } finally {
      await packs.close();
      this.#bar.end();
    }
  }

  async #restoreRecords(): Promise<void> {
    const isRestored = ({ key: at }: CopiedRecord) => !NOT_RESTORED.includes(at[0] as number);
    for (const chunk of this.#manifest.passes.flat()) {
      const records = [...decodeRecords(await this.#place.readRecords(chunk))];
      for (const some of stepsOf(records.filter(isRestored))) {
        await write(this.#data.store, some);
        this.#show(some.length, bytesOf(some));
      }
    }
  }

  async #restoreBytes(packs: PackedPieces): Promise<void> {
    const { origins } = this.#manifest;
    const { extents } = this.#data.member as Member;
    const bodyOf = ({ extent, offset, length }: Address) =>
      packs.bodyOf(originOf(origins, extent, offset), extent, offset, length);
    for await (const bytes of rewriteContents(this.#data.store, extents, bodyOf)) {
      this.#show(0, bytes);
    }
  }

  /** Reads everything as `lazuli verify` does. */
  async #verify(): Promise<{ records: number; bytes: number }> {
    const onDamage = (name: string, reason: string) => {
      throw new DamageFound(`Restored and not sound: ${name}: ${reason}.`);
    };
    let done = { objects: 0, bytes: 0 };
    for await (done of new Verifier(this.#data, onDamage).run()) {
      this.#bar.show({ objects: this.#records + done.objects, bytes: this.#bytes + done.bytes });
    }
    return { records: done.objects, bytes: done.bytes };
  }

  #show(records: number, bytes: number): void {
    this.#records += records;
    this.#bytes += bytes;
    this.#bar.show({ objects: this.#records, bytes: this.#bytes });
  }
}

interface PlaceInPack {
  readonly pack: FileHandle;
  readonly position: number;
}

/** The pieces in packs, which were verified, by their place in the extents of the backup. */
class PackedPieces {
  readonly #place: BackupPlace;
  readonly #packs: FileHandle[] = [];
  readonly #pieces = new Map<string, PlaceInPack>();

  constructor(place: BackupPlace) {
    this.#place = place;
  }

  async add(name: string, onBytes: (bytes: number) => void): Promise<void> {
    await readPack(this.#place, name, async ({ length }) => onBytes(length));
    const pack = await open(this.#place.packPath(name));
    this.#packs.push(pack);
    let position = 0;
    for (const [origin, extent, offset, length] of await readPackIndex(this.#place, name)) {
      this.#pieces.set(nameOf(origin, extent, offset), { pack, position });
      position += length;
    }
  }

  bodyOf(origin: string, extent: number, offset: number, length: number): Body {
    const found = this.#pieces.get(nameOf(origin, extent, offset));
    if (found === undefined) throw lacking();
    const { pack, position } = found;
    return {
      length,
      async drain(take) {
        for (let done = 0; done < length; ) {
          const part = Buffer.allocUnsafeSlow(Math.min(READ_BYTES, length - done));
          const { bytesRead } = await pack.read(part, 0, part.length, position + done);
          if (bytesRead === 0) throw lacking();
          await take(part.subarray(0, bytesRead));
          done += bytesRead;
        }
      },
    };
  }

  async close(): Promise<void> {
    for (const pack of this.#packs) await pack.close();
  }
}

function lacking(): DamageFound {
  return new DamageFound("The backup lacks bytes: a piece is in none of its packs.");
}

function nameOf(origin: string, extent: number, offset: number): string {
  return `${origin} ${extent} ${offset}`;
}
