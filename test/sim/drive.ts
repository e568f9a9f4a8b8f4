import { History, type Operation } from "./history.ts";
import type { Chosen, Workload } from "./simulate.ts";

export interface Driven<Asked, Answer> {
  readonly clients: number;
  /** Of each client. */
  readonly operations: number;
  readonly workload: Workload<Asked, Answer>;
  /** What is looked at in the end, when nobody writes any more. */
  readonly looks: readonly Chosen<Asked>[];
  /** Null if the client went away before there was an answer. */
  ask(chosen: Chosen<Asked>, mayLeave: boolean): Promise<Answer | null>;
}

/** Has clients ask a real server, each one thing after the other, and writes down what happened. */
export async function drive<Asked, Answer>(
  driven: Driven<Asked, Answer>,
): Promise<readonly Operation<Asked, Answer>[]> {
  const history = new History<Asked, Answer>();
  const { clients, operations, workload } = driven;
  const act = async (client: number, chosen: Chosen<Asked>, mayLeave: boolean) => {
    const told = history.invoke(client, chosen.key, chosen.asked);
    const answer = await driven.ask(chosen, mayLeave);
    told(answer);
    workload.learn(client, chosen, answer);
  };
  const client = async (name: number) => {
    for (let left = operations; left > 0; left--) {
      const chosen = workload.choose(name);
      await act(name, chosen, workload.mayBeUntold?.(chosen.asked) ?? true);
    }
  };
  await Promise.all(Array.from({ length: clients }, (_, name) => client(name)));
  for (const look of driven.looks) await act(clients, look, false);
  return history.operations;
}
