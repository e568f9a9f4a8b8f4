import { randomUUID } from "node:crypto";
import { AzureNamedKeyCredential, TableClient, type TableEntity } from "@azure/data-tables";
import {
  BlobSASPermissions,
  type BlockBlobClient,
  type ContainerClient,
  generateBlobSASQueryParameters,
} from "@azure/storage-blob";
import { rawRequest } from "../sdk/raw-request.ts";
import { ACCOUNT, CREDENTIAL, KEY } from "../sdk/server.ts";
import type { EmulatorClients } from "./emulator-process.ts";

/** What an emulator answers: a status with the code of an error, or what a reader would look at. */
type Question = (clients: EmulatorClients) => Promise<string>;

const DAY_MS = 24 * 60 * 60_000;
/** Every emulator knows it. */
const VERSION = "2025-11-05";

/** By what docs/reference/differences-from-azurite.md calls them. */
export const QUESTIONS: Readonly<Record<string, Question>> = {
  "Get Page Ranges after writes to two neighbouring pages": async (clients) => {
    const blob = (await makeContainer(clients)).getPageBlobClient("pages");
    await blob.create(4_096);
    for (const at of [0, 512]) await blob.uploadPages(Buffer.alloc(512, 1), at, 512);
    const { length } = (await blob.getPageRanges()).pageRange ?? [];
    return length === 1 ? "1 range" : `${length} ranges`;
  },
  "Acquire Lease with the id `mylease`": async (clients) => {
    const blob = await makeBlob(clients);
    return statusOf(() => blob.getBlobLeaseClient("mylease").acquireLease(15));
  },
  "Put Blob at the `-secondary` endpoint": async (clients) => {
    const { containerName } = await makeContainer(clients);
    return ask(clients, `/${containerName}/b`, { account: `${ACCOUNT}-secondary`, ...PUT_BLOB });
  },
  "A request that was signed three days ago": (clients) => {
    const date = new Date(Date.now() - 3 * DAY_MS).toUTCString();
    return ask(clients, "/?comp=list", { headers: { "x-ms-date": date } });
  },
  "A wrong SAS beside a right signature": async (clients) => {
    const { containerName, name } = await makeBlob(clients);
    const sas = "sv=2020-02-10&sr=b&sp=r&se=2001-01-01T00:00:00Z&sig=wrong";
    return ask(clients, `/${containerName}/${name}?${sas}`);
  },
  "Get Blob without credentials, from a private container": async (clients) => {
    const { containerName, name } = await makeBlob(clients);
    return ask(clients, `/${containerName}/${name}`, { signed: false });
  },
  "List Containers with an `x-ms-version` that is newer than the server": (clients) =>
    ask(clients, "/?comp=list", { version: "2027-08-06" }),
  "Put Blob with `x-ms-encryption-scope`": async (clients) => {
    const { containerName } = await makeContainer(clients);
    const headers = { ...PUT_BLOB.headers, "x-ms-encryption-scope": "scope" };
    return ask(clients, `/${containerName}/b`, { ...PUT_BLOB, headers });
  },
  "Get Container with an unknown `comp`": async (clients) => {
    const { containerName } = await makeContainer(clients);
    return ask(clients, `/${containerName}?restype=container&comp=frob`);
  },
  "Put Blob with a name of 1,025 characters": async (clients) => {
    const container = await makeContainer(clients);
    return statusOf(() => container.getBlockBlobClient("a".repeat(1_025)).upload("x", 1));
  },
  "Set Container ACL with six policies": async (clients) => {
    const container = await makeContainer(clients);
    const six = Array.from({ length: 6 }, (_, at) => ({
      id: `${at}`,
      accessPolicy: { permissions: "r" },
    }));
    return statusOf(() => container.setAccessPolicy(undefined, six));
  },
  "Set Blob Tier to Hot, of an archived blob": async (clients) => {
    const blob = await makeBlob(clients);
    await blob.setAccessTier("Archive");
    await blob.setAccessTier("Hot");
    const { archiveStatus, accessTier } = await blob.getProperties();
    return archiveStatus ?? accessTier ?? "";
  },
  "List Blobs with the names 😀 and ﬁ": async (clients) => {
    const container = await makeContainer(clients);
    for (const name of ["ﬁ", "😀"]) await container.getBlockBlobClient(name).upload("x", 1);
    const names: string[] = [];
    for await (const { name } of container.listBlobsFlat()) names.push(name);
    return names.join(" ");
  },
  "Insert Entity of 1.1 MB": (clients) =>
    insert(
      clients,
      Array.from({ length: 17 }, (_, at) => [`p${at}`, "x".repeat(32_000)]),
    ),
  "Insert Entity with 253 properties": (clients) =>
    insert(
      clients,
      Array.from({ length: 253 }, (_, at) => [`p${at}`, at]),
    ),
  "Insert Entity with a date of the year 1500": (clients) =>
    insert(clients, [["date", { type: "DateTime", value: "1500-01-01T00:00:00Z" }]]),
  "Insert Entity with a slash in its key": (clients) => insert(clients, [["rowKey", "a/b"]]),
  "Undelete Blob": async (clients) => {
    const blob = await makeBlob(clients);
    return statusOf(() => blob.undelete());
  },
  "Put Blob From URL": async (clients) => {
    const blob = await makeBlob(clients);
    const target = clients.blob.getContainerClient(blob.containerName).getBlockBlobClient("copy");
    return statusOf(() => target.syncUploadFromURL(readableUrl(blob)));
  },
  "Incremental Copy Blob": async (clients) => {
    const container = await makeContainer(clients);
    const source = container.getPageBlobClient("pages");
    await source.create(512);
    const { snapshot = "" } = await source.createSnapshot();
    const url = readableUrl(source.withSnapshot(snapshot));
    return statusOf(() => container.getPageBlobClient("copy").startCopyIncremental(url));
  },
};

const PUT_BLOB = { method: "PUT", body: "x", headers: { "x-ms-blob-type": "BlockBlob" } };

async function makeContainer({ blob }: EmulatorClients): Promise<ContainerClient> {
  const container = blob.getContainerClient(`c-${randomUUID()}`);
  await container.create();
  return container;
}

async function makeBlob(clients: EmulatorClients): Promise<BlockBlobClient> {
  const blob = (await makeContainer(clients)).getBlockBlobClient("blob");
  await blob.upload("x", 1);
  return blob;
}

function readableUrl({
  url,
  containerName,
  name,
}: Pick<BlockBlobClient, "url" | "containerName" | "name">): string {
  const sas = generateBlobSASQueryParameters(
    {
      containerName,
      blobName: name,
      permissions: BlobSASPermissions.parse("r"),
      expiresOn: new Date(Date.now() + DAY_MS),
    },
    CREDENTIAL,
  );
  return `${url}${url.includes("?") ? "&" : "?"}${sas}`;
}

/** Inserts an entity with these properties into a new table. */
async function insert(
  { table, tableUrl }: EmulatorClients,
  properties: readonly (readonly [string, unknown])[],
): Promise<string> {
  const name = `t${randomUUID().replaceAll("-", "")}`;
  await table.createTable(name);
  const entity = { partitionKey: "p", rowKey: "r", ...Object.fromEntries(properties) };
  const credential = new AzureNamedKeyCredential(ACCOUNT, KEY);
  const options = { allowInsecureConnection: true, retryOptions: { maxRetries: 0 } };
  const client = new TableClient(tableUrl, name, credential, options);
  return statusOf(() => client.createEntity(entity as TableEntity), 204);
}

interface Asked {
  readonly account?: string;
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signed?: boolean;
  readonly version?: string;
}

async function ask(
  { blobOrigin }: EmulatorClients,
  path: string,
  { account = ACCOUNT, ...asked }: Asked = {},
): Promise<string> {
  const server = { account: ACCOUNT, url: `${blobOrigin}/${account}` };
  const { status, code } = await rawRequest(server, { version: VERSION, ...asked, path });
  return `${status} ${code}`.trimEnd();
}

interface Answered {
  readonly _response?: { readonly status: number };
}

interface Refused {
  readonly statusCode: number;
  readonly code?: string;
  readonly details?: { readonly odataError?: { readonly code: string } };
}

/** The status of an answer (`unseen` where the client does not show it), or of a refusal with its code. */
async function statusOf(operation: () => Promise<unknown>, unseen = 0): Promise<string> {
  try {
    const done = (await operation()) as Answered;
    return `${done._response?.status ?? unseen}`;
  } catch (error) {
    const { statusCode, code, details } = error as Refused;
    return `${statusCode} ${details?.odataError?.code ?? code}`;
  }
}
