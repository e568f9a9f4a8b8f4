// Mutated SAS, signatures and tokens against all services: how many forged ones are accepted. Flags: --count N, --seed N.
import { createHmac, generateKeyPairSync, randomInt } from "node:crypto";
import { Agent, request } from "node:https";
import { parseArgs } from "node:util";
import { AzureNamedKeyCredential, generateTableSas } from "@azure/data-tables";
import * as blobSdk from "@azure/storage-blob";
import * as fileSdk from "@azure/storage-file-share";
import * as queueSdk from "@azure/storage-queue";
import { SignJWT } from "jose";
import { issuerOf } from "../../src/front/rest/auth/bearer.ts";
import { OWNER } from "../../src/rules/access.ts";
import { createShare } from "../../src/service/file/create-share.ts";
import { createQueue } from "../../src/service/queue/create-queue.ts";
import { createTable } from "../../src/service/table/create-table.ts";
import { askForKey, askSecurely, keyIn, TENANT, USER } from "../sdk/bearer.ts";
import { CERTIFICATE, CERTIFICATE_KEY } from "../sdk/certificate.ts";
import { startFileServer } from "../sdk/file-server.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import { ACCOUNT, KEY, OTHER_ACCOUNT, startServer, type TestService } from "../sdk/server.ts";
import { startTableServer } from "../sdk/table-server.ts";
import { report } from "./figure.ts";

const { values } = parseArgs({
  options: {
    count: { type: "string", default: "20000" },
    seed: { type: "string", default: String(randomInt(1_000_000)) },
  },
});
const count = Number(values.count);
const seed = Number(values.seed);
if (!(count > 0)) throw new Error("--count takes a number above 0");

/** A seeded generator (mulberry32): a run can be repeated with --seed. */
let state = seed | 0;
function random(below: number): number {
  state = (state + 0x6d2b79f5) | 0;
  let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
  mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
  return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
}
const oneOf = <T>(list: readonly T[]): T => list[random(list.length)] as T;

const HOUR_MS = 3_600_000;
const ISSUER = "https://login.example.org/tenant/v2.0";
const STORAGE = "https://storage.azure.com";
const VERSION = "2026-04-06";
const LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";

const rsa = generateKeyPairSync("rsa", { modulusLength: 2048 });
const stranger = generateKeyPairSync("rsa", { modulusLength: 2048 });
const jwk = { ...rsa.publicKey.export({ format: "jwk" }), kid: "rsa" };
const options = {
  tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY },
  oauth: issuerOf({ issuer: ISSUER, from: { keys: [jwk] } }),
};

/** A request with credentials. Query values are decoded. */
interface Sent {
  readonly path: string;
  readonly query: readonly (readonly [string, string])[];
  readonly headers: Readonly<Record<string, string>>;
}

/** One kind of credentials. */
interface Kind {
  readonly name: string;
  readonly server: TestService;
  readonly valid: Sent;
  forge(valid: Sent): Promise<Sent> | Sent;
}

const agent = new Agent({ keepAlive: true, maxSockets: 8, ca: CERTIFICATE });

function statusOf(server: TestService, { path, query, headers }: Sent): Promise<number> {
  const encoded = query.map((pair) => pair.map(encodeURIComponent).join("=")).join("&");
  const target = `${new URL(server.url).origin}${path}${encoded === "" ? "" : `?${encoded}`}`;
  return new Promise((resolve, reject) => {
    const sent = request(target, { agent, headers: { "x-ms-version": VERSION, ...headers } });
    sent.on("response", (answer) => {
      answer.resume().on("end", () => resolve(answer.statusCode ?? 0));
    });
    sent.on("error", reject).end();
  });
}

/** Changes one character of a text, by more than its case if case is insignificant. */
function altered(text: string, hasCase = true): string {
  if (text === "") return oneOf([...LETTERS]);
  const at = random(text.length);
  const plain = (letter = "") => (hasCase ? letter : letter.toLowerCase());
  const letters = [...LETTERS].filter((letter) => plain(letter) !== plain(text[at]));
  return text.slice(0, at) + oneOf(letters) + text.slice(at + 1);
}

function withQuery(sent: Sent, query: Sent["query"]): Sent {
  return { ...sent, query };
}

/**
 * Whether a request stays valid without this field. Beside a token, a SAS without its signature is
 * ignored; queues have one resource type.
 */
function mayLack({ path, headers }: Sent, name: string): boolean {
  if (name === "sig") return headers.authorization !== undefined;
  return name === "sr" && path.endsWith("/messages");
}

/** Forges a SAS without its signing key. `others` are paths that it does not cover. */
function forgeSas(sent: Sent, sasNames: readonly string[], others: readonly string[]): Sent {
  const places = [...sent.query.keys()].filter((at) =>
    sasNames.includes(sent.query[at]?.[0] ?? ""),
  );
  const at = oneOf(places);
  const [name, value] = sent.query[at] as [string, string];
  const replaced = (to: string) => sent.query.with(at, [name, to]);
  switch (random(7)) {
    case 0:
      // Table names have no case.
      return withQuery(sent, replaced(altered(value, name !== "tn")));
    case 1:
      return withQuery(
        sent,
        mayLack(sent, name) ? replaced(altered(value)) : sent.query.toSpliced(at, 1),
      );
    case 2:
      return withQuery(sent, [...sent.query, [oneOf([name, name.toUpperCase()]), altered(value)]]);
    case 3:
      return withQuery(sent, [[name, value], ...sent.query]);
    case 4:
      return { ...sent, path: oneOf(others) };
    case 5: {
      const longer = new Date(Date.now() + (2 + random(999)) * HOUR_MS).toISOString();
      const query = sent.query.map(([one, was]) => [one, one === "se" ? longer : was] as const);
      return withQuery(sent, query);
    }
    default: {
      const bytes = Buffer.from(Array.from({ length: 32 }, () => random(256)));
      const sig = bytes.toString("base64");
      return withQuery(
        sent,
        sent.query.map(([one, was]) => [one, one === "sig" ? sig : was] as const),
      );
    }
  }
}

function sasKind(
  name: string,
  server: TestService,
  path: string,
  sas: string,
  others: readonly string[],
  more: Sent["query"] = [],
  headers: Sent["headers"] = {},
): Kind {
  const fields = [...new URLSearchParams(sas)];
  const names = fields.map(([field]) => field);
  const valid = { path: `/${ACCOUNT}${path}`, query: [...more, ...fields], headers };
  const elsewhere = others.map((one) => `/${ACCOUNT}${one}`);
  return { name, server, valid, forge: (sent) => forgeSas(sent, names, elsewhere) };
}

/** SharedKey or SharedKeyLite of a GET. */
function keyKind(name: string, server: TestService, path: string, other: string): Kind {
  const date = new Date().toUTCString();
  const whole = `/${ACCOUNT}${path}`;
  const isTable = name.includes("table");
  const isLite = name.includes("Lite");
  const headers = { "x-ms-date": date, "x-ms-version": VERSION };
  const signed = isTable ? "" : `x-ms-date:${date}\nx-ms-version:${VERSION}\n`;
  const lines = isTable ? (isLite ? "" : "GET\n\n\n") : `GET${"\n".repeat(isLite ? 4 : 12)}`;
  const text = `${lines}${isTable ? `${date}\n` : signed}/${ACCOUNT}${whole}`;
  const signature = createHmac("sha256", Buffer.from(KEY, "base64")).update(text).digest("base64");
  const scheme = isLite ? "SharedKeyLite" : "SharedKey";
  const authorization = (of: string, by: string) => `${scheme} ${of}:${by}`;
  const valid: Sent = {
    path: whole,
    query: [],
    headers: { ...headers, authorization: authorization(ACCOUNT, signature) },
  };
  const withHeaders = (changed: Record<string, string>) => ({
    ...valid,
    headers: { ...valid.headers, ...changed },
  });
  const forge = (): Sent => {
    switch (random(isTable || isLite ? 5 : 7)) {
      case 0:
        return withHeaders({ authorization: authorization(ACCOUNT, altered(signature)) });
      case 1:
        return withHeaders({ authorization: authorization(altered(ACCOUNT), signature) });
      case 2:
        return withHeaders({
          "x-ms-date": new Date(Date.now() + 1_000 + random(99_999)).toUTCString(),
        });
      case 3:
        return { ...valid, path: `/${ACCOUNT}${other}` };
      case 4:
        return { ...valid, path: whole.replace(ACCOUNT, OTHER_ACCOUNT) };
      case 5:
        return withQuery(valid, [[oneOf(["timeout", "snapshot", "comp"]), "1"]]);
      default:
        return withHeaders({ [`x-ms-client-${altered("request")}`]: "x" });
    }
  };
  return { name, server, valid, forge };
}

const seconds = () => Math.floor(Date.now() / 1_000);
const CLAIMS = { aud: STORAGE, iss: ISSUER, oid: USER, tid: TENANT };
const GOOD = () => ({ ...CLAIMS, nbf: seconds(), exp: seconds() + 36_000 });
const part = (value: object | string) =>
  Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

function sign(claims: object, header: object = {}, key = rsa.privateKey): Promise<string> {
  const jwt = new SignJWT({ ...claims });
  return jwt.setProtectedHeader({ alg: "RS256", kid: "rsa", ...header }).sign(key);
}

/** Claims that the issuer might sign for another audience, or for another time. */
const WRONG_CLAIMS: readonly (() => object)[] = [
  () => ({ ...GOOD(), aud: `https://${OTHER_ACCOUNT}.blob.core.windows.net` }),
  () => ({ ...GOOD(), aud: `https://${altered("vault")}.azure.net` }),
  () => ({ ...GOOD(), aud: altered(STORAGE) }),
  () => ({ ...GOOD(), iss: altered(ISSUER) }),
  () => ({ ...CLAIMS, nbf: 1, exp: 2 + random(1_000_000) }),
  () => ({ ...GOOD(), nbf: seconds() + 1_000 + random(99_999) }),
  () => ({ ...GOOD(), exp: String(seconds() + 3_600) }),
  () => ({ ...CLAIMS }),
  () => ({ ...GOOD(), oid: undefined, tid: undefined }),
];

async function forgeToken(token: string): Promise<string> {
  const [header = "", claims = "", signature = ""] = token.split(".");
  switch (random(8)) {
    case 0:
    case 1:
      return altered(token);
    case 2:
      return sign(GOOD(), {}, stranger.privateKey);
    case 3:
      return sign(oneOf(WRONG_CLAIMS)());
    case 4:
      return `${part({ alg: oneOf(["none", "None", "NONE", ""]), kid: "rsa" })}.${claims}.${oneOf(["", signature])}`;
    case 5: {
      const text = `${part({ alg: oneOf(["HS256", "HS384", "HS512"]), kid: "rsa" })}.${claims}`;
      const pem = rsa.publicKey.export({ format: "pem", type: "spki" });
      const secret = oneOf([pem, String(jwk.n), Buffer.from(String(jwk.n), "base64url")]);
      return `${text}.${createHmac("sha256", secret).update(text).digest("base64url")}`;
    }
    case 6: {
      // The signer's own key is included, which some libraries once trusted.
      const own = { jwk: stranger.publicKey.export({ format: "jwk" }), kid: oneOf(["rsa", "new"]) };
      return sign(GOOD(), own, stranger.privateKey);
    }
    default: {
      const other = part({ ...GOOD(), oid: altered(USER) });
      const endless = part(JSON.stringify({ ...GOOD(), exp: 0 }).replace('"exp":0', '"exp":1e400'));
      return oneOf([`${header}.${other}.${signature}`, `${header}.${endless}.${signature}`]);
    }
  }
}

function tokenKind(name: string, server: TestService, path: string, token: string): Kind {
  const query: Sent["query"] = path.includes("Tables") ? [] : [["comp", "list"]];
  const headers = { "x-ms-file-request-intent": "backup" };
  const withToken = (one: string): Sent => ({
    path: `/${ACCOUNT}${path}`,
    query,
    headers: { ...headers, authorization: `Bearer ${one}` },
  });
  const forge = async () => withToken(await forgeToken(token));
  return { name, server, valid: withToken(token), forge };
}

/** A key to sign a SAS with, as the official clients take it. */
async function delegationKey(server: TestService, headers: object): Promise<never> {
  const [from, until] = [Date.now() - HOUR_MS, Date.now() + HOUR_MS];
  return keyIn((await askForKey(server, from, until, headers)).text) as never;
}

const blobs = await startServer(options);
const queues = await startQueueServer(options);
const tables = await startTableServer(options);
const files = await startFileServer(options);
const servers = [blobs, queues, tables, files];

/** Creates objects to read, two of each kind: a SAS for one must not permit the other. */
async function fill(headers: object): Promise<void> {
  const account = ACCOUNT;
  const asked = { access: OWNER, metadata: [] };
  for (const name of ["box", "other"]) {
    await createQueue(queues.context, { ...asked, at: { account, queue: name } });
    await createTable(tables.context, { access: OWNER, at: { account, table: name } });
    const at = { account, share: name, snapshot: null };
    await createShare(files.context, { ...asked, at, quotaGib: 1, tier: "Hot" });
    await askSecurely(blobs, "PUT", `/${name}?restype=container`, headers);
    for (const blob of ["a", "b"]) {
      const put = { ...headers, "x-ms-blob-type": "BlockBlob" };
      await askSecurely(blobs, "PUT", `/${name}/${blob}`, put);
    }
  }
}

async function kinds(): Promise<Kind[]> {
  const token = await sign(GOOD());
  const bearing = { authorization: `Bearer ${token}` };
  await fill(bearing);
  const expiresOn = new Date(Date.now() + HOUR_MS);
  const startsOn = new Date(Date.now() - HOUR_MS);
  const times = { startsOn, expiresOn };
  const credential = new blobSdk.StorageSharedKeyCredential(ACCOUNT, KEY);
  const tableKey = new AzureNamedKeyCredential(ACCOUNT, KEY);
  const accountSas = blobSdk
    .generateAccountSASQueryParameters(
      {
        services: blobSdk.AccountSASServices.parse("b").toString(),
        resourceTypes: blobSdk.AccountSASResourceTypes.parse("o").toString(),
        permissions: blobSdk.AccountSASPermissions.parse("r"),
        ...times,
      },
      credential,
    )
    .toString();
  const blobTerms = {
    containerName: "box",
    permissions: blobSdk.BlobSASPermissions.parse("r"),
    ...times,
  };
  const read = { ...blobTerms, blobName: "a" };
  const blobKey = await delegationKey(blobs, bearing);
  const sas = (terms: object, key: never = credential as never) =>
    blobSdk.generateBlobSASQueryParameters(terms as never, key, ACCOUNT).toString();
  const bound = { ...read, delegatedUserObjectId: USER };
  const queueTerms = {
    queueName: "box",
    permissions: queueSdk.QueueSASPermissions.parse("r"),
    ...times,
  };
  const queueCredential = new queueSdk.StorageSharedKeyCredential(ACCOUNT, KEY);
  const fileCredential = new fileSdk.StorageSharedKeyCredential(ACCOUNT, KEY);
  const shareTerms = {
    shareName: "box",
    permissions: fileSdk.ShareSASPermissions.parse("rl"),
    ...times,
  };
  const list = [
    ["restype", "directory"],
    ["comp", "list"],
  ] as const;
  const peek = [["peekonly", "true"]] as const;
  const queueKey = await delegationKey(queues, bearing);
  return [
    sasKind("account SAS", blobs, "/box/a", accountSas, ["/", "/box"]),
    sasKind("blob SAS", blobs, "/box/a", sas(read), ["/box/b", "/other/a"]),
    sasKind("container SAS", blobs, "/box/a", sas(blobTerms), ["/other/a"]),
    sasKind("user delegation SAS", blobs, "/box/a", sas(read, blobKey), ["/box/b"]),
    sasKind("SAS for one user", blobs, "/box/a", sas(bound, blobKey), ["/box/b"], [], bearing),
    sasKind("SAS beside a token", blobs, "/box/a", sas(read), ["/box/b"], [], bearing),
    sasKind(
      "queue SAS",
      queues,
      "/box/messages",
      queueSdk.generateQueueSASQueryParameters(queueTerms, queueCredential).toString(),
      ["/other/messages"],
      peek,
    ),
    sasKind(
      "queue user delegation SAS",
      queues,
      "/box/messages",
      queueSdk.generateQueueSASQueryParameters(queueTerms, queueKey, ACCOUNT).toString(),
      ["/other/messages"],
      peek,
    ),
    sasKind(
      "table SAS",
      tables,
      "/box()",
      generateTableSas("box", tableKey, {
        permissions: { query: true },
        startPartitionKey: "a",
        endPartitionKey: "z",
        ...times,
      }),
      ["/other()"],
    ),
    sasKind(
      "share SAS",
      files,
      "/box",
      fileSdk.generateFileSASQueryParameters(shareTerms, fileCredential).toString(),
      ["/other"],
      list,
    ),
    ...["SharedKey", "SharedKeyLite"].flatMap((scheme) => [
      keyKind(`${scheme}, blob`, blobs, "/box/a", "/box/b"),
      keyKind(`${scheme}, table`, tables, "/box()", "/other()"),
    ]),
    tokenKind("token, blob", blobs, "/", token),
    tokenKind("token, queue", queues, "/", token),
    tokenKind("token, table", tables, "/Tables", token),
    tokenKind("token, file", files, "/", token),
  ];
}

const WORKERS = 8;
let tried = 0;
const accepted: string[] = [];
const broken: string[] = [];

async function worker(all: readonly Kind[]): Promise<void> {
  while (tried < count) {
    tried++;
    const kind = oneOf(all);
    const forged = await kind.forge(kind.valid);
    const status = await statusOf(kind.server, forged);
    if (status < 400) accepted.push(`${kind.name}: ${JSON.stringify(forged)}`);
    if (status >= 500) broken.push(`${kind.name}: ${status} ${JSON.stringify(forged)}`);
  }
}

const all = await kinds();
const refusedValid: string[] = [];
for (const kind of all) {
  const status = await statusOf(kind.server, kind.valid);
  if (status !== 200) refusedValid.push(`${kind.name} (${status})`);
}
await Promise.all(Array.from({ length: WORKERS }, () => worker(all)));
for (const line of [...accepted, ...broken].slice(0, 20)) console.log(line);
agent.destroy();
for (const server of servers) await server.close();
const failures = servers.flatMap((server) => server.failures);
console.log(`--seed ${seed}`);
report([
  {
    promise: `credentials of ${all.length} kinds are accepted as they are`,
    found: refusedValid.length === 0 ? "all" : `refused: ${refusedValid.join(", ")}`,
    bar: "all",
    met: refusedValid.length === 0,
  },
  {
    promise: `forged ones of ${all.length} kinds are refused`,
    found: `${accepted.length} of ${tried} accepted`,
    bar: "0 accepted",
    met: accepted.length === 0,
  },
  {
    promise: "a forged one is a refusal, not a failure",
    found: `${broken.length + failures.length} failures`,
    bar: "0",
    met: broken.length + failures.length === 0,
  },
]);
