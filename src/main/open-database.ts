import type { Clock } from "../base/clock.ts";
import { NotLeader } from "../cluster/front-end.ts";
import type { StoredShares } from "../front/smb/file-host.ts";
import { BlobSweep } from "../service/blob/sweep.ts";
import type { Runs } from "../service/file/clear-handles.ts";
import { receiveMessage } from "../service/file/receive-message.ts";
import { FileSweep } from "../service/file/sweep.ts";
import { type WatchedFiles, WatchedStore } from "../service/file/watched-store.ts";
import { QueueSweep } from "../service/queue/sweep.ts";
import { RunningCopies } from "../service/shared/running-copies.ts";
import { TableSweep } from "../service/table/sweep.ts";
import { type FailStop, isFullError } from "../store/store.ts";
import { requireNoAzuriteData } from "./azurite-data.ts";
import { Background } from "./background.ts";
import { DamageReports } from "./damage-reports.ts";
import { endEarlierRun } from "./end-earlier-run.ts";
import { hearReload } from "./hear-reload.ts";
import { LeaderWork } from "./leader-work.ts";
import type { Log } from "./log.ts";
import { type Data, openData } from "./open-data.ts";
import type { NamedPlace } from "./places.ts";
import { Readiness } from "./readiness.ts";
import type { ReloadDone } from "./reload.ts";
import { Scrub } from "./scrub.ts";
import type { ServedLab } from "./served-lab.ts";
import type { Settings } from "./settings.ts";
import type { Surroundings } from "./surroundings.ts";
import { Undo } from "./undo.ts";

/** The SMB clients of a server, as far as a database knows them. */
export interface SmbClients {
  /** Takes over persistent handles of front ends that do not run any more. */
  adopt(shares: StoredShares, runs: Runs): Promise<void>;
  /** Ends the connections of clients that have something open there. */
  drop(shares: StoredShares): void;
}

export interface DatabaseSetup {
  readonly settings: Pick<Settings, "azuriteLocation" | "scrub">;
  readonly around: Surroundings;
  readonly log: Log;
  /** Null without one. */
  readonly lab: ServedLab | null;
  readonly clients: SmbClients;
  /** Reloads the settings of the server. */
  reload(): Promise<ReloadDone>;
  /** Throws a `StartError` if another database of the server has the records of this cluster. */
  requireOther(cluster: string): void;
}

const FULL =
  "The disk of the data folder is full: reads, deletes, leases and receipts go on, and writes that need space get 507. " +
  "Delete what is not needed, or make the volume larger; writes go on by themselves then";
const NO_LONGER_FULL = "The disk of the data folder has space again: all writes are taken";
const LAPSED =
  "This front end could not renew its lease in the database for 25 seconds: SMB connections are closed, " +
  "because other front ends may soon end their handles. Clients can connect again at once";

/** The data of some accounts, and the work that goes on there in the background. */
export class OpenDatabase {
  /** As services see it. */
  readonly data: Data & { readonly copies: RunningCopies };
  /** As background work sees it. */
  readonly stored: Data;
  readonly files: WatchedFiles & { readonly copies: RunningCopies };
  readonly shares: StoredShares;
  readonly background: Background;
  readonly readiness: Readiness;
  readonly #scrub: Scrub | null;

  private constructor(stored: Data, ownEpoch: bigint | null, setup: DatabaseSetup, undo: Undo) {
    const { lab, around, log, settings } = setup;
    const { schedule } = around;
    const { member, contents, breaks } = stored;
    this.stored = stored;
    const copies = new RunningCopies(member?.frontEnd.number);
    undo.add(() => copies.stop());
    const store = lab === null ? stored.store : lab.around(stored.store);
    this.data = { ...stored, store, copies };
    // REST and SMB share one watched store, so that each is notified of the other's changes.
    const watched = new WatchedStore(store, member?.messages);
    this.files = { store: watched, contents, breaks, copies };
    const epoch = () => ownEpoch ?? member?.frontEnd.epochToOpenIn() ?? 0n;
    this.shares = { files: this.files, epoch, isShared: member !== null };
    member?.messages.listen((message) => {
      if (!hearReload(message, member, setup.reload)) receiveMessage(this.files, message);
    });
    member?.frontEnd.onLapse(() => {
      log.tell(LAPSED);
      watched.beginEpoch();
      setup.clients.drop(this.shares);
    });
    const leading = member === null ? null : new LeaderWork(member, this.data);
    if (leading !== null) leading.adopt = (runs) => setup.clients.adopt(this.shares, runs);
    this.background = sweeping(lab?.behind(stored) ?? stored, leading, around, log);
    undo.add(() => this.background.stop());
    stored.space?.onSpace((isShort) => {
      log.tell(isShort ? FULL : NO_LONGER_FULL);
      this.background.spaceIs(isShort);
    });
    this.readiness = new Readiness(stored.dependencies, schedule);
    undo.add(async () => this.readiness.stop());
    this.#scrub =
      settings.scrub === null ? null : scrubbing(this.data, around, log, settings.scrub);
    undo.add(async () => this.#scrub?.stop());
    this.close = () => undo.run();
  }

  /** Ends the work, and closes the data. Nobody may use it any more. */
  readonly close: () => Promise<void>;

  /** Opens the data. Throws a `StartError`, with nothing left open. */
  static async open(
    place: NamedPlace,
    setup: DatabaseSetup,
    failStop: FailStop,
  ): Promise<OpenDatabase> {
    const undo = new Undo();
    try {
      const stored = await openLoggedData(place, setup, failStop);
      undo.add(() => stored.close());
      const epoch = stored.member === null ? await endEarlierRun(stored) : null;
      return new OpenDatabase(stored, epoch, setup, undo);
    } catch (error) {
      await undo.run();
      throw error;
    }
  }

  /** Begins the work in the background. */
  start(): void {
    this.background.start();
    this.readiness.start();
    this.#scrub?.start();
  }

  /** The time that all front ends have in common; null for that of this machine. */
  get clock(): Clock | null {
    return this.data.clock;
  }

  get isFull(): boolean {
    return this.data.space?.isShort === true;
  }
}

/** Opens the data; the log names its damage. */
async function openLoggedData(
  place: NamedPlace,
  { settings, around, log, lab, requireOther }: DatabaseSetup,
  failStop: FailStop,
): Promise<Data> {
  const { location } = place;
  if (location !== null) await requireNoAzuriteData(location, settings.azuriteLocation);
  const reports = new DamageReports((name) => log.tell(`damaged: the record of ${name}`));
  const { onDamage } = reports;
  const { schedule, sharedClock } = around;
  const options = { tell: log.tell, onDamage, schedule, sharedClock, requireOther };
  const data = await openData(place, lab?.clock ?? around.clock, failStop, options);
  reports.lookIn(data.store);
  for (const warning of data.warnings) log.warn("data folder", warning);
  return data;
}

function sweeping(
  data: Data,
  leading: LeaderWork | null,
  { schedule }: Surroundings,
  log: Log,
): Background {
  const { member, contents } = data;
  const swept = member === null ? data : { ...data, store: member.leaderStore };
  const parts = [new BlobSweep(swept), new QueueSweep(swept), new TableSweep(swept)];
  const isSweeper = isSweeperOf(data);
  const sweeps = [...parts, new FileSweep(swept)].map(
    (part) => async () => isSweeper() && (await part.sweep()),
  );
  const collect = data.collect === null ? [] : [data.collect];
  if (leading !== null) collect.push(() => leading.round());
  const rounds = [...sweeps, () => contents.sweep(), ...collect, () => lookForSpace(data)];
  return new Background(rounds, schedule, (error) => {
    // A full disk was reported when it became full. Another leader goes on with what this one did.
    if (!isFullError(error) && !(error instanceof NotLeader)) log.warn("sweeping failed", error);
  });
}

/** Tells whether this process does what only one front end does. */
function isSweeperOf({ member }: Data): () => boolean {
  return () => member === null || member.frontEnd.isSweeper;
}

/** Looks for free space. Resolves to false, because there is no more to do in this round. */
async function lookForSpace({ space }: Data): Promise<false> {
  if (space?.isShort) await space.look();
  return false;
}

function scrubbing(data: Data, around: Surroundings, log: Log, mibPerSecond: number): Scrub {
  const { store, contents } = data;
  const { schedule } = around;
  const { tell } = log;
  const isOurs = isSweeperOf(data);
  const onError = (error: unknown) => log.warn("scrubbing failed", error);
  return new Scrub({ store, contents, schedule, mibPerSecond, isOurs, tell, onError });
}
