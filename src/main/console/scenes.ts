import type { ObjectVerdict } from "../../check/check-history.ts";
import type { HistoryOperation } from "../../check/history-file.ts";
import type { PlayedScene, SceneFacts } from "../../front/console/console-facts.ts";
import type { Lab } from "../../lab/lab.ts";
import { LabError } from "../../lab/lab-error.ts";
import { CLIENTS_MAX, CLIENTS_MIN, playScene } from "../../lab/play-scene.ts";
import { SCENES } from "../../lab/scenes.ts";

/** The scenes of a lab, for the console. */
export function sceneFacts(lab: Lab): SceneFacts {
  return {
    clientsMin: CLIENTS_MIN,
    clientsMax: CLIENTS_MAX,
    list: () => Object.entries(SCENES).map(([name, { title }]) => ({ name, title })),
    play: async (name, clients, account) => {
      try {
        const asked = { clients, ...(account === null ? {} : { account }) };
        const { title, history, verdicts, svg } = await playScene(lab, name, asked);
        return { title, svg, objects: verdicts.map((one) => shownObject(one, history.operations)) };
      } catch (error) {
        if (error instanceof LabError) return { status: error.status, message: error.message };
        throw error;
      }
    },
  };
}

function shownObject(
  { object, kind, verdict, order, why }: ObjectVerdict,
  all: readonly HistoryOperation[],
): PlayedScene["objects"][number] {
  const own = all.filter((one) => one.object === object && one.kind === kind);
  return {
    object,
    verdict,
    why,
    operations: own
      .toSorted((one, other) => one.invoked - other.invoked)
      .map((one) => ({
        client: one.client,
        verb: one.verb,
        status: one.status,
        code: one.code ?? null,
        order: order.includes(one) ? order.indexOf(one) + 1 : null,
      })),
  };
}
