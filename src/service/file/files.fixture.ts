import { AnyOf } from "../../base/any-of.fixture.ts";
import { type Bytes, wholeBody } from "../../base/bytes.ts";
import { ManualClock } from "../../base/clock.ts";
import { NO_DIGESTS } from "../../base/digests.ts";
import { key, keyAfter, SPACE, type Space } from "../../base/keys.ts";
import { SHARE_QUOTA_GIB_DEFAULT } from "../../base/limits.ts";
import type { Stamp } from "../../base/stamp.ts";
import { readWhole } from "../../content/whole-reading.ts";
import { OWNER } from "../../rules/access.ts";
import { prefetch } from "../../store/accelerated.ts";
import {
  type DataOptions,
  openServiceData,
  type ServiceData,
} from "../shared/service-data.fixture.ts";
import { CacheBreaks, systemTimer } from "./cache-breaks.ts";
import type { FileAsked, PathAsked, ShareContext, ShareUse } from "./context.ts";
import { createDirectory } from "./create-directory.ts";
import { createFile } from "./create-file.ts";
import { createShare } from "./create-share.ts";
import { getFile } from "./get-file.ts";
import { NO_SETTINGS } from "./item-settings.ts";
import { listDirectoriesAndFiles } from "./list-directories-and-files.ts";
import { NO_PROPERTIES } from "./open-file.ts";
import { putRange } from "./put-range.ts";
import { FileSweep } from "./sweep.ts";

/** What engines, object stores and front ends keep of themselves. */
const OWN_SPACES: readonly Space[] = [
  SPACE.engine,
  SPACE.extentPlace,
  SPACE.frontEnd,
  SPACE.leader,
];
const ALL_SPACES = Object.values(SPACE).filter((space) => !OWN_SPACES.includes(space));

/** A share in its own store, with short methods for tests. */
export class Files<Context extends ShareContext = ShareContext> {
  readonly clock: ManualClock;
  readonly #contexts: AnyOf<Context>;

  protected constructor(clock: ManualClock, contexts: readonly Context[]) {
    this.clock = clock;
    this.#contexts = new AnyOf(contexts);
  }

  static async open(options?: DataOptions): Promise<Files> {
    const files = await Files.openEmpty(options);
    await files.createShare();
    return files;
  }

  /** Without any share. */
  static async openEmpty(options?: DataOptions): Promise<Files> {
    const clock = new ManualClock(1_700_000_000_000);
    const { all } = await openServiceData(clock, options);
    return new Files(clock, all.map(contextOn));
  }

  /** Of another front end at each use. */
  get context(): Context {
    return this.#contexts.next();
  }

  get store(): Context["store"] {
    return this.context.store;
  }

  createShare() {
    const terms = { metadata: [], quotaGib: SHARE_QUOTA_GIB_DEFAULT, tier: "Hot" } as const;
    return createShare(this.context, { ...this.share(), ...terms });
  }

  share(snapshot: Stamp | null = null): ShareUse {
    return { at: { account: "account", share: "share", snapshot }, access: OWNER, leaseId: null };
  }

  at(path: string, snapshot: Stamp | null = null): FileAsked & PathAsked {
    const names = path === "" ? [] : path.split("/");
    const { at, access, leaseId } = this.share(snapshot);
    return { at: { ...at, path: names, trailingDots: true }, access, leaseId };
  }

  createDirectory(path: string) {
    const settings = NO_SETTINGS;
    return createDirectory(this.context, { ...this.at(path), settings, metadata: [] });
  }

  /** Creates a file with this text, or with this many zeroes. */
  async create(path: string, content: string | number = 0, attributes: number | null = null) {
    const body = typeof content === "number" ? null : wholeBody(Buffer.from(content));
    const { file } = await createFile(this.context, {
      ...this.at(path),
      length: body?.length ?? Number(content),
      settings: { ...NO_SETTINGS, attributes },
      properties: NO_PROPERTIES,
      metadata: [],
      body: body?.length === 0 ? null : body,
      digests: NO_DIGESTS,
    });
    return file;
  }

  write(path: string, from: number, text: string) {
    return putRange(this.context, {
      ...this.at(path),
      from,
      until: from + text.length,
      preservesWritten: false,
      body: wholeBody(Buffer.from(text)),
      digests: NO_DIGESTS,
    });
  }

  async read(path: string, snapshot: Stamp | null = null): Promise<Bytes> {
    const asked = { ...this.at(path, snapshot), range: null, md5: false };
    const { reading } = await getFile(this.context, asked);
    return readWhole(reading);
  }

  async text(path: string, snapshot: Stamp | null = null): Promise<string> {
    return (await this.read(path, snapshot)).toString();
  }

  /** Every path with the text of its file, or null for a directory. */
  async tree(snapshot: Stamp | null = null, path = ""): Promise<[string, string | null][]> {
    const found: [string, string | null][] = [];
    const asked = { ...this.at(path, snapshot), prefix: "", after: "", resultsMax: 1_000 };
    for await (const { items } of listDirectoriesAndFiles(this.context, asked)) {
      for (const { item, isDirectory } of items) {
        const below = path === "" ? item.name : `${path}/${item.name}`;
        found.push([below, isDirectory ? null : await this.text(below, snapshot)]);
        if (isDirectory) found.push(...(await this.tree(snapshot, below)));
      }
    }
    return found;
  }

  /** Sweeps until there is nothing left to do. */
  async sweep(): Promise<void> {
    const sweep = new FileSweep(this.context);
    while (await sweep.sweep());
    while (await this.context.contents.sweep());
  }

  /** Counts the records in these spaces, or in all. */
  records(spaces: readonly Space[] = ALL_SPACES): Promise<number> {
    const options = { limit: 10_000 };
    const ranges = spaces.map((space) => ({ from: key(space), until: keyAfter(key(space)) }));
    return this.store.read((view) => {
      prefetch(view, () => ranges.map((range) => ({ ...range, options })));
      return ranges.reduce(
        (sum, { from, until }) => sum + view.range(from, until, options).length,
        0,
      );
    });
  }
}

function contextOn({ store, contents, member }: ServiceData): ShareContext {
  const breaks = new CacheBreaks(systemTimer, member?.messages);
  return { store, contents, breaks, settingsByAccount: new Map() };
}
