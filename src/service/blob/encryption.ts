import { createCipheriv, createDecipheriv } from "node:crypto";
import type { Bytes } from "../../base/bytes.ts";
import { refuse } from "../../base/fault.ts";
import { format, pairs } from "../../base/fields.ts";
import { type CustomerKey, judgeByKey } from "../../rules/encryption.ts";
import { StoreError } from "../../store/store.ts";
import type { AskedEncryption } from "./context.ts";
import { isMark } from "./flat-directory.ts";
import type { Blob, EncryptedFields, Metadata } from "./records.ts";

/** Refuses a request without the key that the blob is encrypted with, or with another. */
export function requireKey({ encryption }: Pick<Blob, "encryption">, asked: AskedEncryption): void {
  refuse(judgeByKey(encryption?.keySha256 ?? null, asked.key ?? null));
}

/** The hash of the key that new bytes are encrypted with; null if they are not. */
export function keySha256Of({ key = null }: AskedEncryption): Bytes | null {
  return key === null ? null : key.sha256;
}

/** Metadata as a record has it: encrypted if the request has a key. */
export function encryptedFields(metadata: Metadata, asked: AskedEncryption): EncryptedFields {
  const { key = null } = asked;
  if (key === null) return { metadata, encryption: null };
  // What a directory is must be known without its key.
  const marks = metadata.filter(isMark);
  const others = metadata.filter((pair) => !isMark(pair));
  return { metadata: marks, encryption: { keySha256: key.sha256, metadata: seal(others, key) } };
}

/** The blob with its metadata, for a request whose key was judged. */
export function decrypted(blob: Blob, { key = null }: AskedEncryption): Blob {
  const { encryption } = blob;
  if (encryption === null || key === null) return blob;
  return { ...blob, metadata: [...unseal(encryption.metadata, key), ...blob.metadata] };
}

const metadataFormat = format(1, { metadata: pairs });
const CIPHER = "aes-256-gcm";
const TAG_BYTES = 16;

/** The nonce, the authentication tag, and the encrypted pairs. */
function seal(metadata: Metadata, { bytes, nonce }: CustomerKey): Bytes {
  const cipher = createCipheriv(CIPHER, bytes, nonce);
  const sealed = cipher.update(metadataFormat.encode({ metadata }));
  cipher.final();
  return Buffer.concat([nonce, cipher.getAuthTag(), sealed]);
}

function unseal(sealed: Bytes, { bytes, nonce }: CustomerKey): Metadata {
  const until = nonce.length + TAG_BYTES;
  const cipher = createDecipheriv(CIPHER, bytes, sealed.subarray(0, nonce.length));
  cipher.setAuthTag(sealed.subarray(nonce.length, until));
  const opened = cipher.update(sealed.subarray(until));
  try {
    cipher.final();
  } catch {
    throw new StoreError("damaged", "the metadata of a blob does not match its key");
  }
  return metadataFormat.decode(opened).metadata;
}
