import { checkHistory, type ObjectVerdict } from "../check/check-history.ts";
import type { HistoryFile } from "../check/history-file.ts";
import { drawSwimLanes } from "../check/swim-lanes.ts";
import type { Lab } from "./lab.ts";
import { LabError } from "./lab-error.ts";
import { readAccount, readFields, readInteger, shown } from "./read-fields.ts";
import { CLIENT_HEADER, type RecordedOnFile } from "./recorder.ts";
import type { Point } from "./rule.ts";
import { SCENES, type SceneRequest, type SmbActor, type Stage } from "./scenes.ts";
import { type SmbAnswer, SmbParty } from "./smb-party.ts";

/** What came of a scene: for people, for the checker, and as a picture. */
export interface ScenePlayed {
  readonly title: string;
  readonly history: HistoryFile;
  readonly verdicts: readonly ObjectVerdict[];
  readonly svg: string;
}

const CLIENTS = 3;
export const CLIENTS_MIN = 2;
export const CLIENTS_MAX = 16;
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
  const { accounts } = lab.endpoints;
  const account = readAccount(
    fields.account === undefined ? accounts[0] : fields.account,
    "account",
    accounts,
  );
  if (lab.recorder.shown.isOn) {
    throw new LabError("A recording runs: stop it first (DELETE /recording).", 409);
  }
  const clocks = lab.clock.settings;
  const stage = new LabStage(lab, account, clients);
  lab.recorder.start({ hasFiles: true });
  try {
    await scene.play(stage);
  } finally {
    stage.end();
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
  readonly #parties: SmbParty[] = [];

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

  async meet(operation: string, count: number, at: Point = "commit"): Promise<void> {
    const match = { operation, container: this.place, hold: true, at, times: count };
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

  async smb(client: string): Promise<SmbActor> {
    const { endpoints, recorder } = this.#lab;
    const origin = endpoints.smbOrigin;
    if (origin === undefined) {
      throw new LabError("SMB does not run on this server: add smb to its --services.");
    }
    const key = endpoints.keyOf(this.#account) ?? "";
    const party = await SmbParty.connect(origin, this.#account, key, this.place);
    this.#parties.push(party);
    let opened = 0;
    return {
      open: async (file, opening) => {
        const object = `${this.#account}/${this.place}/${file}`;
        const asked = { client, object, handle: `${client}, handle ${++opened}` };
        const record = (
          more: Pick<RecordedOnFile, "verb" | "access" | "share" | "range">,
          ask: () => Promise<SmbAnswer>,
        ) => recorder.recordOnFile({ ...asked, ...more }, ask);
        const { handle } = await recorder.recordOnFile({ ...asked, verb: "open", ...opening }, () =>
          party.open(file, opening),
        );
        return {
          lock: async (range) =>
            void (await record({ verb: "lock", range }, () => party.lock(handle, range))),
          write: async (from, text) => {
            const range = [from, Buffer.byteLength(text)] as const;
            await record({ verb: "change", range }, () => party.write(handle, from, text));
          },
          close: async () => void (await record({ verb: "close" }, () => party.close(handle))),
        };
      },
    };
  }

  /** Ends all SMB connections. */
  end(): void {
    for (const party of this.#parties) party.end();
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
