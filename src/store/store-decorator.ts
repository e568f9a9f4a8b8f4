import type { ChangeListener, Store, Transaction, View } from "./store.ts";

/** A store on top of another one. It passes everything on; subclasses change what they have to. */
export class StoreDecorator implements Store {
  protected readonly inner: Store;

  constructor(inner: Store) {
    this.inner = inner;
  }

  get keyBytesMax(): number {
    return this.inner.keyBytesMax;
  }

  read<T>(body: (view: View) => T): Promise<T> {
    return this.inner.read(body);
  }

  transact<T>(body: (tx: Transaction) => T): Promise<T> {
    return this.inner.transact(body);
  }

  changes(listener: ChangeListener): () => void {
    return this.inner.changes(listener);
  }

  beforeCheckpoint(prepare: () => Promise<void>): void {
    this.inner.beforeCheckpoint?.(prepare);
  }

  close(): Promise<void> {
    return this.inner.close();
  }
}
