// 96 large SMB reads and writes at once, encrypted, signed and plain, and a client with small GETs beside them: the longest CPU gap of the event loop, and the small GETs' p99. Flags: --only WORD, --seconds N.

import type { Offer, Sending } from "../../src/front/smb/client/smb-client.ts";
import { COMMAND } from "../../src/front/smb/codec/header.ts";
import { DIALECT } from "../../src/front/smb/codec/negotiate.ts";
import { Writer } from "../../src/front/smb/codec/wire.ts";
import { CIPHER } from "../../src/front/smb/crypto/cipher.ts";
import { SIGNING } from "../../src/front/smb/crypto/signer.ts";
import { CREDIT_BYTES } from "../../src/front/smb/limits.ts";
import { EMPTY_BODY } from "../../src/front/smb/smb-client.fixture.ts";
import { READ, WRITE } from "../../src/rules/share-mode.ts";
import { SmbFiles, type SmbHandle } from "../smb/smb-files.ts";
import type { Load } from "./stall-loads.ts";
import { soakStalls } from "./stall-soak.ts";
import type { StalledServer } from "./stalled-server.ts";

const MIB = 1024 * 1024;
const CONNECTIONS = 12;
/** Concurrent transfers of each connection. */
const TRANSFERS = 8;
/** Each one earns more credits, until all transfers are affordable. */
const ECHOES = 32;

/** How transfers are protected, and how large they may be. */
interface Protection {
  readonly name: string;
  readonly offer: Offer;
  readonly sending: Sending;
  readonly bytes: number;
}

const GCM = { ciphers: [CIPHER.aes128Gcm] };
const encrypted = (name: string, ciphers: Offer["ciphers"], bytes: number): Protection => ({
  name,
  offer: { ciphers: ciphers ?? [] },
  sending: { sealed: true },
  bytes,
});
const signed = (name: string, offer: Offer): Protection => ({
  name,
  offer,
  sending: { signed: true },
  bytes: 8 * MIB,
});

const PROTECTIONS: readonly Protection[] = [
  encrypted("AES-128-GCM", [CIPHER.aes128Gcm], 8 * MIB),
  encrypted("AES-256-GCM", [CIPHER.aes256Gcm], 8 * MIB),
  encrypted("AES-128-CCM", [CIPHER.aes128Ccm], MIB),
  signed("AES-CMAC", { ...GCM, signings: [SIGNING.aesCmac] }),
  signed("AES-GMAC", { ...GCM, signings: [SIGNING.aesGmac] }),
  signed("HMAC-SHA256", { dialects: [DIALECT.smb210] }),
  { name: "plain", offer: GCM, sending: {}, bytes: 8 * MIB },
];

function loadOf(protection: Protection, kind: "read" | "write"): Load {
  const { name, bytes } = protection;
  const workers: Worker[] = [];
  return {
    name: `SMB ${CONNECTIONS * TRANSFERS} ${kind}s of ${bytes / MIB} MiB, ${name}`,
    async prepare(server) {
      const { file: port } = server.ports;
      await server.send(port, { method: "PUT", path: "/box", query: { restype: "share" } });
      for (let at = 0; at < CONNECTIONS; at++) {
        // All clients read one file, which the first one writes.
        const name = kind === "read" ? "file" : `file-${at}`;
        const worker = await Worker.open(server, protection, name);
        if (kind === "read" && at === 0) await worker.transfer("write");
        workers.push(worker);
      }
    },
    async run() {
      await Promise.all(workers.map((worker) => worker.transfer(kind)));
    },
  };
}

/** A client that sends all its requests at once. Answers are counted, not decrypted. */
class Worker {
  readonly #files: SmbFiles;
  readonly #handle: SmbHandle;
  readonly #protection: Protection;

  private constructor(files: SmbFiles, handle: SmbHandle, protection: Protection) {
    this.#files = files;
    this.#handle = handle;
    this.#protection = protection;
  }

  static async open(server: StalledServer, protection: Protection, name: string): Promise<Worker> {
    const files = await SmbFiles.connect(server.ports.smb, "box", protection.offer);
    for (let echo = 0; echo < ECHOES; echo++) await files.client.call(COMMAND.echo, EMPTY_BODY);
    const handle = await files.open(name, { access: READ | WRITE, disposition: "openIf" });
    return new Worker(files, handle, protection);
  }

  async transfer(kind: "read" | "write"): Promise<void> {
    const { client } = this.#files;
    const { bytes, sending } = this.#protection;
    const paid = { ...sending, charge: bytes / CREDIT_BYTES };
    for (let at = 0; at < TRANSFERS; at++) {
      const body = kind === "read" ? this.#read(at * bytes) : this.#write(at * bytes);
      client.line.send(client.frame(COMMAND[kind], body, paid));
    }
    for (let at = 0; at < TRANSFERS; at++) {
      const frame = await client.line.next();
      if (frame === null) throw new Error("the server closed the connection");
      if (kind === "read" && frame.length < bytes) throw new Error(`${frame.length} bytes came`);
    }
  }

  #read(from: number): Buffer {
    const body = new Writer().u16(49).u16(0).u32(this.#protection.bytes).u64(from);
    return body.bytes(this.#handle).zeros(17).done();
  }

  #write(from: number): Buffer {
    const { bytes } = this.#protection;
    const head = new Writer().u16(49).u16(112).u32(bytes).u64(from).bytes(this.#handle).zeros(16);
    return Buffer.concat([head.done(), Buffer.alloc(bytes, "lazuli")]);
  }
}

await soakStalls(PROTECTIONS.flatMap((one) => [loadOf(one, "read"), loadOf(one, "write")]));
