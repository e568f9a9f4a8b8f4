import { createHash } from "node:crypto";
import type { CpkInfo } from "@azure/storage-blob";
import { CERTIFICATE, CERTIFICATE_KEY } from "./certificate.ts";
import type { TestServerOptions } from "./server.ts";

/** The official clients send keys over HTTPS only. */
export const SECURE: TestServerOptions = { tls: { cert: CERTIFICATE, key: CERTIFICATE_KEY } };

/** Options of clients without retries that trust the test certificate. */
export const TRUSTING = {
  retryOptions: { maxTries: 1 },
  tlsOptions: { ca: CERTIFICATE },
} as { retryOptions: { maxTries: number } };

export interface TestKey {
  /** As the clients take it. */
  readonly info: CpkInfo;
  readonly sha256: string;
  /** As requests send it. */
  readonly headers: Readonly<Record<string, string>>;
  /** As the key of a source. */
  readonly sourceHeaders: Readonly<Record<string, string>>;
}

/** A key of 32 equal bytes. */
export function testKey(byte: number): TestKey {
  const bytes = Buffer.alloc(32, byte);
  const key = bytes.toString("base64");
  const sha256 = createHash("sha256").update(bytes).digest("base64");
  const headers = (prefix: string) => ({
    [`${prefix}encryption-key`]: key,
    [`${prefix}encryption-key-sha256`]: sha256,
    [`${prefix}encryption-algorithm`]: "AES256",
  });
  return {
    info: { encryptionKey: key, encryptionKeySha256: sha256, encryptionAlgorithm: "AES256" },
    sha256,
    headers: headers("x-ms-"),
    sourceHeaders: headers("x-ms-source-"),
  };
}
