import assert from "node:assert/strict";
import { test } from "node:test";
import { ShareServiceClient, StorageSharedKeyCredential } from "@azure/storage-file-share";
import { STATUS } from "../../src/front/smb/nt-status.ts";
import { SmbClient, TcpLine } from "../../src/front/smb/smb-client.fixture.ts";
import { SmbFiles } from "../smb/smb-files.ts";
import { skipWithoutSmbclient, smbclient } from "../smb/smbclient.ts";
import { newKey, ReloadedServer } from "./reloading.ts";

const [KEY1, KEY2, KEY3] = [newKey(), newKey(), newKey()];

async function smbPort(server: ReloadedServer): Promise<number> {
  return Number(new URL(await server.origin("SMB")).port);
}

async function createShare(server: ReloadedServer, account: string, key: string): Promise<void> {
  const credential = new StorageSharedKeyCredential(account, key);
  const url = `${await server.origin("File")}/${account}`;
  await new ShareServiceClient(url, credential).getShareClient("box").create();
}

async function logOn(port: number, user: string, password: string): Promise<number> {
  const client = new SmbClient(await TcpLine.open(port));
  await client.negotiate({});
  const { status } = await client.logOn({ user, domain: "", password });
  client.line.close();
  return status;
}

const SERVICES = { services: "file,smb" };

test("a key that is taken away ends the SMB sessions that it opened, and no others", async (t) => {
  const server = new ReloadedServer(
    t,
    { accounts: [{ name: "shop", keys: [KEY1, KEY2] }] },
    SERVICES,
  );
  await createShare(server, "shop", KEY1);
  const port = await smbPort(server);
  const connect = (password: string) =>
    SmbFiles.connect(port, "box", {}, { user: "shop", domain: "", password });
  const [first, second] = [await connect(KEY1), await connect(KEY2)];
  const locked = { disposition: "openIf", share: 0 } as const;
  await first.open("held", locked);
  const held = await second.open("other", { disposition: "openIf" });
  assert.equal((await second.tryOpen("held")).status, STATUS.SHARING_VIOLATION);
  assert.match(
    await server.hangUp({ accounts: [{ name: "shop", keys: [KEY3, KEY2] }] }),
    /other keys of the account shop/,
  );
  assert.equal((await first.tryOpen("held")).status, STATUS.USER_SESSION_DELETED);
  assert.equal(await second.end(held), 0, "the other session goes on, with what it has open");
  await second.open("held", locked);
  assert.equal(await logOn(port, "shop", KEY1), STATUS.LOGON_FAILURE);
  assert.equal(await logOn(port, "shop", KEY3), 0);
  for (const files of [first, second]) files.close();
});

test("a removed account ends its SMB sessions, and cannot log on", async (t) => {
  const other = { name: "other", keys: [KEY2] };
  const server = new ReloadedServer(
    t,
    { accounts: [{ name: "shop", keys: [KEY1] }, other] },
    SERVICES,
  );
  await createShare(server, "shop", KEY1);
  const port = await smbPort(server);
  const user = { user: "shop", domain: "", password: KEY1 };
  const files = await SmbFiles.connect(port, "box", {}, user);
  assert.match(await server.hangUp({ accounts: [other] }), /removed the account shop/);
  assert.equal((await files.tryOpen("a")).status, STATUS.USER_SESSION_DELETED);
  assert.equal(await logOn(port, "shop", KEY1), STATUS.LOGON_FAILURE);
  assert.equal(await logOn(port, "other", KEY2), 0);
  files.close();
});

test("smbclient logs on with a new key, and no longer with the old one", {
  skip: skipWithoutSmbclient,
}, async (t) => {
  const server = new ReloadedServer(t, { accounts: [{ name: "shop", keys: [KEY1] }] }, SERVICES);
  await createShare(server, "shop", KEY1);
  const port = await smbPort(server);
  const ask = (key: string) => smbclient(port, "-L //127.0.0.1", "-g", "-U", `shop%${key}`);
  assert.match((await ask(KEY1)).text, /^Disk\|box\|/m);
  await server.hangUp({ accounts: [{ name: "shop", keys: [KEY2] }] });
  assert.match((await ask(KEY1)).text, /NT_STATUS_LOGON_FAILURE/);
  assert.match((await ask(KEY2)).text, /^Disk\|box\|/m);
});
