import { checkHistory, type ObjectVerdict } from "../check/check-history.ts";
import type { HistoryFile } from "../check/history-file.ts";
import { drawSwimLanes } from "../check/swim-lanes.ts";
import type { Lab } from "./lab.ts";
import { LabError } from "./lab-error.ts";
import { readFields, readInteger, readText, shown } from "./read-fields.ts";
import { CLIENT_HEADER } from "./recorder.ts";
import { SCENES, type SceneRequest, type Stage } from "./scenes.ts";

/** What came of a scene: for people, for the checker, and as a picture. */
export interface ScenePlayed {
  readonly title: string;
  readonly history: HistoryFile;
  readonly verdicts: readonly ObjectVerdict[];
  readonly svg: string;
}

const CLIENTS = 3;
const CLIENTS_MIN = 2;
const CLIENTS_MAX = 16;
const MEET_MS_MAX = 10_000;

/** Lets clients play a scene against this server, records it, checks it and draws it. */
export async function playScene(lab: Lab, name: string, asked: unknown): Promise<ScenePlayed> {
  const scene = SCENES[name];
  if (scene === undefined) {
    const names = Object.keys(SCENES).join(", ");
    throw new LabError(`There is no scene ${shown(name)}. There are ${names}.`, 404);
  }
  const fields = readFields(asked, "A scene", ["clients", "account"]);
  const clients =
    fields.clients === undefined
      ? CLIENTS
      : readInteger(fields.clients, "clients", CLIENTS_MIN, CLIENTS_MAX);
  const account =
    fields.account === undefined ? lab.endpoints.firstAccount : readText(fields.account, "account");
  if (lab.recorder.shown.isOn) {
    throw new LabError("A recording runs: stop it first (DELETE /recording).", 409);
  }
  const clocks = lab.clock.settings;
  const stage = new LabStage(lab, account, clients);
  lab.recorder.start();
  try {
    await scene.play(stage);
  } finally {
    lab.recorder.stop();
    lab.clock.settings = clocks;
    const { leave } = scene;
    if (leave !== null) await stage.leave({ ...leave, path: `/${stage.place}${leave.path}` });
  }
  const { history } = lab.recorder;
  const verdicts = checkHistory(history);
  const svg = drawSwimLanes(scene.title, history.operations, verdicts);
  return { title: scene.title, history, verdicts, svg };
}

class LabStage implements Stage {
  readonly clients: number;
  readonly place: string;
  readonly #lab: Lab;
  readonly #account: string;

  constructor(lab: Lab, account: string, clients: number) {
    this.#lab = lab;
    this.#account = account;
    this.clients = clients;
    this.place = `lab-scene-${lab.nextScene()}`;
  }

  send(client: string, request: SceneRequest) {
    const headers = { ...request.headers, [CLIENT_HEADER]: client };
    return this.#ask({ ...request, headers }, true);
  }

  async meet(operation: string, count: number): Promise<void> {
    const match = { operation, container: this.place, hold: true, at: "commit", times: count };
    const { id } = this.#lab.addRule(match);
    try {
      await this.#lab.room.reached(id, count, MEET_MS_MAX);
    } finally {
      this.#lab.removeRule(id);
    }
  }

  pass(time: string): Promise<void> {
    return this.#lab.changeClock({ move: time, account: this.#account });
  }

  signed(path: string): string {
    return this.#lab.parties.signed(this.#account, path);
  }

  async leave(request: SceneRequest): Promise<void> {
    await this.#ask(request, false);
  }

  #ask({ headers = {}, body = "", ...request }: SceneRequest, meetsRules: boolean) {
    const { service } = request;
    const asked = { ...request, headers, body, account: this.#account };
    return this.#lab.parties.send(asked, { service, account: this.#account }, meetsRules);
  }
}
