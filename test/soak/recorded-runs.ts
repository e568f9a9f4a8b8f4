import { readFile, rename, writeFile } from "node:fs/promises";

/** One whole run of the tests. */
export interface RecordedRun {
  readonly commit: string;
  /** When it ended, in ISO 8601. */
  readonly at: string;
  /** The system's load in the last minute of the run. */
  readonly load: number;
  readonly isPassed: boolean;
}

/** Whole runs of the tests in a JSON file, in their order. */
export class RecordedRuns {
  readonly #path: string;
  readonly #runs: RecordedRun[];

  private constructor(path: string, runs: RecordedRun[]) {
    this.#path = path;
    this.#runs = runs;
  }

  /** Reads the runs of earlier calls; there are none if the file does not exist. */
  static async open(path: string): Promise<RecordedRuns> {
    const text = await readFile(path, "utf8").catch((error) => {
      if (error.code === "ENOENT") return "[]";
      throw error;
    });
    const runs: unknown = JSON.parse(text);
    if (!Array.isArray(runs)) throw new Error(`${path} is not a list of runs`);
    return new RecordedRuns(path, runs);
  }

  /** The number of runs that have passed since the last that failed. */
  get inARow(): number {
    return this.#runs.length - 1 - this.#runs.findLastIndex(({ isPassed }) => !isPassed);
  }

  /** Writes a new file and renames it, so that an interruption loses no run. */
  async add(run: RecordedRun): Promise<void> {
    this.#runs.push(run);
    const lines = this.#runs.map((one) => JSON.stringify(one));
    await writeFile(`${this.#path}.new`, `[\n${lines.join(",\n")}\n]\n`);
    await rename(`${this.#path}.new`, this.#path);
  }
}
