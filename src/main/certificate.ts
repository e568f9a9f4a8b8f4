import { createPrivateKey, X509Certificate } from "node:crypto";
import { createSecureContext } from "node:tls";
import type { Bytes } from "../base/bytes.ts";
import type { TlsOptions } from "../front/rest/http/tls-settings.ts";
import type { CertificateFiles } from "./command-line.ts";
import { StartError } from "./start-error.ts";

/** Reads a certificate and tries it. `read` returns the bytes of a file. Throws a `StartError`. */
export function loadCertificate(
  files: CertificateFiles,
  read: (file: string) => Bytes,
): TlsOptions {
  const certificate = readCertificate(files, read);
  try {
    createSecureContext(certificate);
    if ("cert" in certificate) checkPair(certificate);
  } catch (error) {
    const reason = (error as Error).message;
    throw new StartError(
      `The certificate ${files.cert} cannot be used (${reason}). ${adviceFor(reason)}`,
    );
  }
  return certificate;
}

/** Throws if certificate and key have different types, which otherwise only fails for clients. */
function checkPair({ cert, key, passphrase }: Extract<TlsOptions, { cert: Bytes }>): void {
  const secret = createPrivateKey({ key, format: "pem", ...(passphrase && { passphrase }) });
  if (!new X509Certificate(cert).checkPrivateKey(secret)) {
    throw new Error("the key is that of another certificate");
  }
}

/** OpenSSL's error for the encryption that was usual for PFX files until 2021. */
const OLD_ENCRYPTION = "Unsupported PKCS12 PFX data";

function adviceFor(reason: string): string {
  return reason.includes(OLD_ENCRYPTION)
    ? "If it is encrypted as it used to be, convert it: openssl pkcs12 -legacy -in old.pfx -nodes " +
        "-out both.pem, and then --cert both.pem."
    : "Check that --cert, --key and --pwd belong together.";
}

function readCertificate(files: CertificateFiles, read: (file: string) => Bytes): TlsOptions {
  const bytes = read(files.cert);
  const passphrase = files.password === null ? {} : { passphrase: files.password };
  if (!bytes.includes("-----BEGIN ")) return { pfx: bytes, ...passphrase };
  // A PEM file may contain both.
  if (files.key === null && !bytes.includes("PRIVATE KEY-----")) {
    throw new StartError(`${files.cert} is a PEM certificate without its key: add --key <file>.`);
  }
  return { cert: bytes, key: files.key === null ? bytes : read(files.key), ...passphrase };
}
