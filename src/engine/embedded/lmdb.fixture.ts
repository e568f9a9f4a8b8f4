import type { Lmdb } from "./lmdb.ts";

/** A real LMDB with some methods replaced by the test. */
export function lmdbWith(real: Lmdb, changes: Partial<Lmdb>): Lmdb {
  return {
    get: real.get.bind(real),
    getRange: real.getRange.bind(real),
    putSync: real.putSync.bind(real),
    removeSync: real.removeSync.bind(real),
    transaction: real.transaction.bind(real),
    committed: real.committed,
    resetReadTxn: () => real.resetReadTxn(),
    close: () => real.close(),
    ...changes,
  };
}
