import type { Operation } from "../../src/check/operation.ts";
import { History } from "./history.ts";
import type { Chosen, Workload } from "./simulate.ts";

export interface Driven<Asked, Answer> {
  readonly clients: number;
  /** Of each client. */
  readonly operations: number;
  readonly workload: Workload<Asked, Answer>;
  /** Requests at the end, when all writes are done. */
  readonly looks: readonly Chosen<Asked>[];
  /** Null if the client left before an answer came. */
  ask(chosen: Chosen<Asked>, mayLeave: boolean): Promise<Answer | null>;
}

/** Runs clients against a real server, each with one request at a time, and records the history. */
export async function drive<Asked, Answer>(
  driven: Driven<Asked, Answer>,
): Promise<readonly Operation<Asked, Answer>[]> {
  const history = new History<Asked, Answer>();
  const { clients, operations, workload } = driven;
  const act = async (client: number, chosen: Chosen<Asked>, mayLeave: boolean) => {
    const returned = history.invoke(client, chosen.key, chosen.asked);
    const answer = await driven.ask(chosen, mayLeave);
    returned(answer);
    workload.learn(client, chosen, answer);
  };
  const client = async (name: number) => {
    for (let left = operations; left > 0; left--) {
      const chosen = workload.choose(name);
      const mayLeave = workload.mayLeave?.(chosen.asked) ?? true;
      await act(name, chosen, mayLeave && history.mayLeave(chosen.key));
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, name) => client(name)));
  for (const look of driven.looks) await act(clients, look, false);
  return history.operations;
}
