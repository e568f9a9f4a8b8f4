import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TestContext } from "node:test";
import type { RootDatabase } from "lmdb";
import type { Bytes } from "../../base/bytes.ts";
import { systemClock } from "../../base/clock.ts";
import type { StoreError } from "../../store/store.ts";
import { lmdbWith } from "./lmdb.fixture.ts";
import { type Lmdb, openLmdb } from "./lmdb.ts";
import { type LogFile, openLogFiles } from "./log-file.ts";
import { SealedRecords } from "./sealed-records.ts";
import { logSecretOf } from "./settled-records.ts";
import { EmbeddedStore } from "./store.ts";

/** What is to be replaced of lmdb and of each file of the log. */
export interface StoreParts {
  readonly lmdb?: (real: RootDatabase<Bytes, Bytes>) => Partial<Lmdb>;
  readonly log?: (real: LogFile) => Partial<LogFile>;
}

/** A store of which some parts are replaced, for the time of one test. */
export async function storeWith(t: TestContext, parts: StoreParts, logBytesEnough: number) {
  const folder = await mkdtemp(join(tmpdir(), "lazuli-store-"));
  const real = await openLmdb(folder);
  // What only a new store writes does not count.
  await logSecretOf(real, new SealedRecords(real));
  const { files, found } = await openLogFiles(folder);
  const stops: StoreError[] = [];
  const store = await EmbeddedStore.open({
    lmdb: lmdbWith(real, parts.lmdb?.(real) ?? {}),
    log: { files: [replaced(files[0], parts), replaced(files[1], parts)], found },
    folder,
    clock: systemClock,
    failStop: (error) => stops.push(error),
    logBytesEnough,
  });
  t.after(async () => {
    await store.close();
    await real.close();
    await rm(folder, { recursive: true });
  });
  return { store, stops, folder };
}

function replaced(file: LogFile, parts: StoreParts): LogFile {
  return {
    get capacity() {
      return file.capacity;
    },
    write: (bytes, position) => file.write(bytes, position),
    extend: (bytes) => file.extend(bytes),
    close: () => file.close(),
    ...parts.log?.(file),
  };
}
