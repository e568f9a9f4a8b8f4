import { createSecureContext } from "node:tls";
import type { Bytes } from "../base/bytes.ts";
import type { TlsOptions } from "../front/rest/http/server.ts";
import type { CertificateFiles } from "./command-line.ts";
import { StartError } from "./start-error.ts";

/** Reads a certificate and tries it. `read` gives the bytes of a file. Throws a `StartError`. */
export function loadCertificate(
  files: CertificateFiles,
  read: (file: string) => Bytes,
): TlsOptions {
  const certificate = readCertificate(files, read);
  try {
    createSecureContext(certificate);
  } catch (error) {
    const reason = (error as Error).message;
    throw new StartError(
      `The certificate ${files.cert} cannot be used (${reason}). ` +
        "Check that --cert, --key and --pwd belong together.",
    );
  }
  return certificate;
}

function readCertificate(files: CertificateFiles, read: (file: string) => Bytes): TlsOptions {
  const bytes = read(files.cert);
  const passphrase = files.password === null ? {} : { passphrase: files.password };
  if (!bytes.includes("-----BEGIN ")) return { pfx: bytes, ...passphrase };
  // A PEM file may hold both.
  if (files.key === null && !bytes.includes("PRIVATE KEY-----")) {
    throw new StartError(`${files.cert} is a PEM certificate without its key: add --key <file>.`);
  }
  return { cert: bytes, key: files.key === null ? bytes : read(files.key), ...passphrase };
}
