import type { SavedState } from "../store/saved-state.ts";
import type { ClockSettings } from "./lab-clock.ts";
import { LabError } from "./lab-error.ts";

interface Saved {
  readonly state: SavedState;
  readonly clocks: ClockSettings;
}

const STATES_MAX = 100;

/** The saved states of a server, by name. */
export class SavedStates {
  /** The state in which the server began. */
  readonly first: SavedState;
  readonly #save: () => SavedState;
  readonly #saved = new Map<string, Saved>();

  constructor(save: () => SavedState) {
    this.#save = save;
    this.first = save();
  }

  get names(): string[] {
    return [...this.#saved.keys()];
  }

  /** Replaces an earlier state of this name. */
  save(name: string, clocks: ClockSettings): void {
    if (this.#saved.size >= STATES_MAX && !this.#saved.has(name)) {
      throw new LabError(`There are ${STATES_MAX} saved states already: remove some.`, 409);
    }
    this.#saved.get(name)?.state.forget();
    this.#saved.set(name, { state: this.#save(), clocks });
  }

  find(name: string): Saved {
    const found = this.#saved.get(name);
    if (found !== undefined) return found;
    const names = this.names.map((one) => `"${one}"`).join(", ");
    throw new LabError(
      `No state is saved as "${name}". ${names === "" ? "None is saved." : `There are ${names}.`}`,
      404,
    );
  }

  forget(name: string): void {
    this.find(name).state.forget();
    this.#saved.delete(name);
  }
}
