import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { ShareClient } from "@azure/storage-file-share";
import { parseSddl, writeSddl } from "../../src/base/sddl.ts";
import {
  decodeSecurityDescriptor,
  encodeSecurityDescriptor,
  type SecurityDescriptor,
} from "../../src/base/security-descriptor.ts";
import { ACCESS } from "../../src/front/smb/codec/access.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { HEADER_BYTES, Writer } from "../../src/front/smb/codec/wire.ts";
import { startSmb, type TestSmb } from "./server.ts";
import { SmbFiles, type SmbHandle } from "./smb-files.ts";

/** Everyone may read; the owner is the administrators' group. */
const SDDL = "O:BAG:BAD:(A;;FR;;;WD)";
const SECURITY = 3;
const PART = { owner: 1, group: 2, dacl: 4 } as const;
const ALL_PARTS = PART.owner | PART.group | PART.dacl;

let smb: TestSmb;
let share: ShareClient;
let files: SmbFiles;

before(async () => {
  smb = await startSmb();
  share = smb.rest.client().getShareClient("box");
  files = await SmbFiles.connect(smb.port, "box");
});

after(async () => {
  files.close();
  await smb.close();
  assert.deepEqual(smb.failures, []);
});

/** Opens with full access; `given` is the permission of a new file, as SDDL. */
async function open(name: string, given: string | null = null): Promise<SmbHandle> {
  const text = Buffer.from(name, "utf16le");
  const padded = Buffer.alloc(Math.ceil(text.length / 8) * 8);
  text.copy(padded);
  const contexts = given === null ? Buffer.alloc(0) : securityContext(bytesOf(given));
  const body = new Writer().u16(57).u16(0).u32(2).zeros(16).u32(ACCESS.maximumAllowed).u32(0);
  body
    .u32(7)
    .u32(given === null ? 1 : 2)
    .u32(0)
    .u16(120)
    .u16(text.length);
  body.u32(given === null ? 0 : 120 + padded.length).u32(contexts.length);
  const reply = await files.client.call(COMMAND.create, body.bytes(padded).bytes(contexts).done());
  assert.equal(reply.status, 0, `status 0x${reply.status.toString(16)}`);
  return reply.bytes.subarray(HEADER_BYTES + 64, HEADER_BYTES + 80);
}

function securityContext(descriptor: Buffer): Buffer {
  const to = new Writer().u32(0).u16(16).u16(4).u16(0).u16(24).u32(descriptor.length);
  return to.bytes(Buffer.from("SecD")).zeros(4).bytes(descriptor).done();
}

function bytesOf(sddl: string): Buffer {
  const bytes = encodeSecurityDescriptor(parseSddl(sddl).descriptor as SecurityDescriptor);
  return bytes as Buffer;
}

/** The named parts, as SDDL. */
async function query(handle: SmbHandle, parts: number): Promise<string> {
  const body = new Writer().u16(41).u8(SECURITY).u8(0).u32(4_096).u32(0).u32(0).u32(parts).u32(0);
  const { status, bytes } = await files.client.call(COMMAND.queryInfo, body.bytes(handle).done());
  assert.equal(status, 0, `status 0x${status.toString(16)}`);
  const length = bytes.readUInt32LE(HEADER_BYTES + 4);
  const found = bytes.subarray(HEADER_BYTES + 8, HEADER_BYTES + 8 + length);
  return writeSddl(decodeSecurityDescriptor(found) as SecurityDescriptor);
}

async function set(handle: SmbHandle, parts: number, sddl: string): Promise<void> {
  const descriptor = bytesOf(sddl);
  const body = new Writer().u16(33).u8(SECURITY).u8(0).u32(descriptor.length).u32(96).u32(parts);
  const whole = body.bytes(handle).bytes(descriptor).done();
  assert.equal((await files.client.call(COMMAND.setInfo, whole)).status, 0);
}

async function overRest(name: string): Promise<string> {
  const file = share.rootDirectoryClient.getFileClient(name);
  const { filePermissionKey = "" } = await file.getProperties();
  return (await share.getPermission(filePermissionKey)).permission;
}

test("SMB shows the requested parts of the permission that REST has set", async () => {
  await share.rootDirectoryClient.getFileClient("rest").create(0, { filePermission: SDDL });
  const handle = await open("rest");
  assert.equal(await query(handle, ALL_PARTS), SDDL);
  assert.equal(await query(handle, PART.owner), "O:BA");
  await files.end(handle);
});

test("REST shows the permission that SMB has set, and omitted parts stay", async () => {
  await share.rootDirectoryClient.getFileClient("smb").create(0, { filePermission: SDDL });
  const handle = await open("smb");
  await set(handle, PART.dacl, "D:(A;;FA;;;SY)");
  assert.equal(await overRest("smb"), "O:BAG:BAD:(A;;FA;;;SY)");
  await set(handle, PART.owner, "O:SY");
  assert.equal(await overRest("smb"), "O:SYG:BAD:(A;;FA;;;SY)");
  await files.end(handle);
});

test("a file is created over SMB with the permission in its CREATE", async () => {
  await files.end(await open("new", SDDL));
  assert.equal(await overRest("new"), SDDL);
});
