import { drive } from "../../sim/drive.ts";
import { checkEntities } from "../../sim/entity-model.ts";
import type { EntityAnswer, EntityAsked } from "../../sim/entity-words.ts";
import { EntityWorkload, PARTITIONS } from "../../sim/entity-workload.ts";
import { Random } from "../../sim/random.ts";
import { answerOf } from "../../sim/sdk-answer.ts";
import { askEntities } from "../../sim/sdk-entities.ts";
import { ask, askUntilDone, pause, type Round, type Work } from "./work.ts";

const CLIENTS = 4;
/** Of each client, in one history: longer ones take too long to decide. */
const OPERATIONS = 12;

/** Random conflicting writes and batches: one order must explain all answers. */
export class Entities implements Work {
  readonly #round: Round;
  readonly #seed: number;
  #histories = 0;
  /** Histories for which the checker found no verdict in time. */
  undecided = 0;

  constructor(round: Round, seed: number) {
    this.#round = round;
    this.#seed = seed;
  }

  async prepare(): Promise<void> {}

  get workers() {
    return [() => this.#work()];
  }

  async check(): Promise<void> {}

  async #work(): Promise<void> {
    while (!this.#round.isOver) {
      const name = `t${this.#round.name.replaceAll("-", "")}x${++this.#histories}`;
      await askUntilDone(
        this.#round,
        (to, abortSignal) => to.table(name).createTable({ abortSignal }),
        true,
      );
      const history = await drive<EntityAsked, EntityAnswer>({
        clients: CLIENTS,
        operations: OPERATIONS,
        workload: new EntityWorkload(new Random(this.#seed + this.#histories)),
        looks: PARTITIONS.map((key) => ({ key, asked: { operation: "query" } })),
        ask: ({ key, asked }) => this.#ask(name, key as string, asked),
      });
      for (const { isProved, what } of checkEntities(history)) {
        if (isProved) this.#round.object(`entities: ${what}`);
        else this.undecided++;
      }
      await pause();
    }
  }

  /** Null if nobody knows. Then the next request waits until somebody answers. */
  async #ask(name: string, partition: string, asked: EntityAsked): Promise<EntityAnswer | null> {
    const outcome = await ask(this.#round, (to, signal) =>
      answerOf(() => askEntities(to.table(name), partition, asked, signal), null),
    );
    if (outcome.kind === "done") return outcome.value;
    await askUntilDone(this.#round, (to, signal) =>
      askEntities(to.table(name), partition, { operation: "query" }, signal),
    );
    return null;
  }
}
