/** A store that can go back to an earlier state at once. Only a store in memory can. */
export interface SavableStore {
  /** The present state of all records. */
  save(): SavedState;
}

/** A state of the records or of the bytes. */
export interface SavedState {
  /** Goes back to it; it can be restored again. Nothing may run meanwhile but requests. */
  restore(): void;
  /** Frees what only this state needs. */
  forget(): void;
}
