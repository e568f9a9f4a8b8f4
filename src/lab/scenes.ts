import type { HistoryRange } from "../check/history-file.ts";
import type { RestServiceName } from "../front/outcome.ts";
import type { Point } from "./rule.ts";
import type { SmbOpening } from "./smb-party.ts";
import type { ThirdPartyAnswer } from "./third-party.ts";

/** A request of a scene. */
export interface SceneRequest {
  readonly service: RestServiceName;
  readonly method: string;
  /** Behind the account. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

/** What a scene can do. */
export interface Stage {
  /** How many clients take part. */
  readonly clients: number;
  /** A name for a container, queue or table that nobody else uses. */
  readonly place: string;
  /** Sends a request of a client. */
  send(client: string, request: SceneRequest): Promise<ThirdPartyAnswer>;
  /** Lets `count` requests of this operation wait for each other, by default before they commit. */
  meet(operation: string, count: number, at?: Point): Promise<void>;
  /** Moves the clock of the account. */
  pass(time: string): Promise<void>;
  /** A target in the account, with a SAS, for requests inside of a batch. */
  signed(path: string): string;
  /** Connects a client to the share of the scene over SMB. */
  smb(client: string): Promise<SmbActor>;
}

/** A client over SMB. What it does is recorded; a refusal is an answer as well. */
export interface SmbActor {
  /** A handle, which is of no use if the open was refused. */
  open(file: string, opening: SmbOpening): Promise<SmbFile>;
}

/** An open of a file over SMB. */
export interface SmbFile {
  lock(range: HistoryRange): Promise<void>;
  write(from: number, text: string): Promise<void>;
  close(): Promise<void>;
}

export interface Scene {
  readonly title: string;
  readonly service: RestServiceName;
  /** Removes the scene's place afterwards. */
  readonly leave: SceneRequest | null;
  play(stage: Stage): Promise<void>;
}

const BLOCK_BLOB = { "x-ms-blob-type": "BlockBlob" };

/** Experiments that show what the service promises, with n clients. */
export const SCENES: Readonly<Record<string, Scene>> = {
  "lost-update": {
    title: "Lost update: all clients change what they have read, with its ETag",
    service: "blob",
    leave: { service: "blob", method: "DELETE", path: "?restype=container" },
    play: playLostUpdate,
  },
  "lease-expiry": {
    title: "Lease expiry: the first client is late, and another one takes over",
    service: "blob",
    leave: { service: "blob", method: "DELETE", path: "?restype=container" },
    play: playLeaseExpiry,
  },
  "queue-redelivery": {
    title: "Queue redelivery: a message comes back, and its old receipt is worth nothing",
    service: "queue",
    leave: { service: "queue", method: "DELETE", path: "" },
    play: playQueueRedelivery,
  },
  "rest-against-smb-lock": {
    title: "REST against SMB: a byte-range lock, then a share mode, keep writers out",
    service: "file",
    leave: { service: "file", method: "DELETE", path: "?restype=share" },
    play: playRestAgainstSmb,
  },
  "batch-race": {
    title: "Batch race: all clients delete the same blobs, in a batch each",
    service: "blob",
    leave: { service: "blob", method: "DELETE", path: "?restype=container" },
    play: playBatchRace,
  },
};

function clientsOf({ clients }: Stage): string[] {
  return Array.from({ length: clients }, (_, at) => `client ${at + 1}`);
}

function put(stage: Stage, client: string, name: string, headers = {}, body = client) {
  const path = `/${stage.place}/${name}`;
  return stage.send(client, {
    service: "blob",
    method: "PUT",
    path,
    headers: { ...BLOCK_BLOB, ...headers },
    body,
  });
}

async function createContainer(stage: Stage): Promise<void> {
  await stage.send("client 1", {
    service: "blob",
    method: "PUT",
    path: `/${stage.place}?restype=container`,
  });
}

async function playLostUpdate(stage: Stage): Promise<void> {
  await createContainer(stage);
  await put(stage, "client 1", "doc", {}, "first");
  const read = (client: string) =>
    stage.send(client, { service: "blob", method: "GET", path: `/${stage.place}/doc` });
  const etags = new Map<string, string>();
  for (const client of clientsOf(stage)) {
    etags.set(client, (await read(client)).headers.etag ?? "");
  }
  const write = (client: string) =>
    put(stage, client, "doc", { "if-match": etags.get(client) ?? "" });
  const met = stage.meet("PutBlob", stage.clients);
  const first = await Promise.all([...clientsOf(stage).map(write), met]);
  // A client that lost reads again, and adds its change to what is there.
  for (const [at, client] of clientsOf(stage).entries()) {
    const answer = first[at];
    if (answer === undefined || answer.status !== 412) continue;
    etags.set(client, (await read(client)).headers.etag ?? "");
    await write(client);
  }
}

async function playLeaseExpiry(stage: Stage): Promise<void> {
  await createContainer(stage);
  const [first = "", ...others] = clientsOf(stage);
  await put(stage, first, "doc", {}, "first");
  const lease = (client: string, headers: Record<string, string>) =>
    stage.send(client, {
      service: "blob",
      method: "PUT",
      path: `/${stage.place}/doc?comp=lease`,
      headers,
    });
  const acquire = { "x-ms-lease-action": "acquire", "x-ms-lease-duration": "15" };
  const held = (await lease(first, acquire)).headers["x-ms-lease-id"] ?? "";
  await Promise.all(others.map((client) => put(stage, client, "doc")));
  await put(stage, first, "doc", { "x-ms-lease-id": held });
  await stage.pass("16s");
  const taken = await Promise.all(others.map((client) => lease(client, acquire)));
  const winner = taken.findIndex(({ status }) => status === 201);
  const id = taken[winner]?.headers["x-ms-lease-id"] ?? "";
  await Promise.all([
    put(stage, first, "doc", { "x-ms-lease-id": held }),
    put(stage, others[winner] ?? first, "doc", { "x-ms-lease-id": id }),
  ]);
}

async function playQueueRedelivery(stage: Stage): Promise<void> {
  const { place } = stage;
  const ask = (client: string, method: string, path: string, body = "") =>
    stage.send(client, { service: "queue", method, path: `/${place}${path}`, body });
  const [first = "", ...others] = clientsOf(stage);
  await ask(first, "PUT", "");
  await ask(
    first,
    "POST",
    "/messages",
    "<QueueMessage><MessageText>job</MessageText></QueueMessage>",
  );
  const receive = (client: string) => ask(client, "GET", "/messages?visibilitytimeout=30");
  const remove = (client: string, { body }: ThirdPartyAnswer) => {
    const field = (name: string) => new RegExp(`<${name}>(.*?)</${name}>`).exec(body)?.[1] ?? "";
    const receipt = encodeURIComponent(field("PopReceipt"));
    return ask(client, "DELETE", `/messages/${field("MessageId")}?popreceipt=${receipt}`);
  };
  const held = await receive(first);
  await Promise.all(others.map(receive));
  await stage.pass("31s");
  const again = await Promise.all(others.map(receive));
  const winner = again.findIndex(({ body }) => body.includes("<QueueMessage>"));
  await remove(first, held);
  const taken = again[winner];
  if (taken !== undefined) await remove(others[winner] ?? first, taken);
  await remove(first, held);
}

const FILE_BYTES = 64;
const LOCKED: HistoryRange = [0, 32];

async function playRestAgainstSmb(stage: Stage): Promise<void> {
  const ask = (client: string, method: string, path: string, headers = {}, body = "") =>
    stage.send(client, { service: "file", method, path: `/${stage.place}${path}`, headers, body });
  const clients = clientsOf(stage);
  const [first = ""] = clients;
  await ask(first, "PUT", "?restype=share");
  await ask(first, "PUT", "/doc", { "x-ms-type": "file", "x-ms-content-length": `${FILE_BYTES}` });
  // Each writes the first bytes, without a condition: over REST the last writer wins.
  const write = (client: string) => {
    const range = `bytes=0-${client.length - 1}`;
    return ask(client, "PUT", "/doc?comp=range", { range, "x-ms-write": "update" }, client);
  };
  const actor = await stage.smb("SMB client");
  const shared = await actor.open("doc", {
    access: ["read", "write"],
    share: ["read", "write", "delete"],
  });
  await shared.lock(LOCKED);
  const locked = stage.meet("PutRange", stage.clients, "arrival");
  await Promise.all([...clients.map(write), shared.write(0, "SMB client"), locked]);
  await shared.close();
  const free = stage.meet("PutRange", stage.clients);
  await Promise.all([...clients.map(write), free]);
  const alone = await actor.open("doc", { access: ["read", "write"], share: [] });
  const denied = stage.meet("PutRange", stage.clients, "arrival");
  await Promise.all([...clients.map(write), denied]);
  await alone.close();
  await write(first);
  await ask(first, "GET", "/doc");
}

async function playBatchRace(stage: Stage): Promise<void> {
  await createContainer(stage);
  const names = ["a", "b", "c"];
  for (const name of names) await put(stage, "client 1", name);
  const batch = (client: string) => {
    const parts = names.map((name, at) =>
      [
        "--batch",
        "Content-Type: application/http",
        "Content-Transfer-Encoding: binary",
        `Content-ID: ${at}`,
        "",
        `DELETE ${stage.signed(`/${stage.place}/${name}`)} HTTP/1.1`,
        `x-lazuli-client: ${client}`,
        "Content-Length: 0",
        "",
        "",
      ].join("\r\n"),
    );
    return stage.send(client, {
      service: "blob",
      method: "POST",
      path: "/?comp=batch",
      headers: { "content-type": "multipart/mixed; boundary=batch" },
      body: `${parts.join("")}--batch--\r\n`,
    });
  };
  const met = stage.meet("DeleteBlob", stage.clients * names.length);
  await Promise.all([...clientsOf(stage).map(batch), met]);
  await stage.send("client 1", { service: "blob", method: "GET", path: `/${stage.place}/a` });
}
