import { randomBytes } from "node:crypto";
import { unowned } from "../../../base/borrowed-buffer.ts";
import type { Bytes } from "../../../base/bytes.ts";
import { fileTimeOfStamp } from "../../../base/file-time.ts";
import { stampOf } from "../../../base/stamp.ts";
import { serverHint } from "../auth/spnego.ts";
import { type Answer, answered, type Call, success } from "../call.ts";
import { blankHeader, COMMAND, writeAnswerHeader } from "../codec/header.ts";
import {
  CAPABILITY,
  DIALECT,
  type Dialect,
  dialectName,
  type NegotiatedContexts,
  type NegotiateRequest,
  readNegotiate,
  SECURITY_MODE,
  SHA_512,
  writeNegotiate,
} from "../codec/negotiate.ts";
import type { Connection } from "../connection.ts";
import { CIPHER, type CipherId, isCcm, isCipher } from "../crypto/cipher.ts";
import { SIGNING, type SigningAlgorithm } from "../crypto/signer.ts";
import { DropConnection } from "../drop-connection.ts";
import { TRANSFER_BYTES_MAX, TRANSFER_BYTES_MAX_202, TRANSFER_BYTES_MAX_CCM } from "../limits.ts";
import type { Negotiated } from "../negotiated.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { hashOn, signingOf } from "../session.ts";
import type { SmbServer } from "../smb-server.ts";

/** Best first: the first that both sides know is chosen. */
const DIALECTS: readonly Dialect[] = [
  DIALECT.smb311,
  DIALECT.smb302,
  DIALECT.smb300,
  DIALECT.smb210,
  DIALECT.smb202,
];
const SIGNINGS: readonly SigningAlgorithm[] = [
  SIGNING.aesGmac,
  SIGNING.aesCmac,
  SIGNING.hmacSha256,
];
const NO_HASH = Buffer.alloc(64);
const SALT_BYTES = 32;
/** None of the client's ciphers can be used. */
const NO_CIPHER = 0;

export function handleNegotiate({ connection, message, facts }: Call): Answer {
  // A second NEGOTIATE would let a man in the middle replace what was negotiated.
  if (connection.isNegotiated) throw new DropConnection();
  const request = readNegotiate(message);
  if (request.dialects.length === 0) throw new StatusError(STATUS.INVALID_PARAMETER);
  const { dialectMin } = connection.server.options;
  const dialect = DIALECTS.find((one) => one >= dialectMin && request.dialects.includes(one));
  if (dialect === undefined) throw new StatusError(STATUS.NOT_SUPPORTED);
  facts.dialect = dialectName(dialect);
  const negotiated = agree(connection.server, dialect, request);
  const contexts = dialect === DIALECT.smb311 ? contextsOf(request, negotiated) : null;
  const answer = success(answerBody(connection.server, negotiated, contexts));
  connection.negotiated = negotiated;
  if (dialect !== DIALECT.smb311) return answer;
  const requestHash = hashOn(NO_HASH, message);
  const onSent = (sent: Bytes) => {
    negotiated.preauthHash = hashOn(requestHash, sent);
  };
  return answered(answer.status, answer.body, { onSent });
}

function agree(server: SmbServer, dialect: Dialect, request: NegotiateRequest): Negotiated {
  const { encryption, signingRequired } = server.options;
  const isOldest = dialect === DIALECT.smb202;
  const cipher = encryption === "off" ? null : chooseCipher(dialect, request);
  const offersCipher = cipher !== null && dialect < DIALECT.smb311;
  return {
    dialect,
    signing: chooseSigning(dialect, request),
    cipher,
    client: {
      guid: request.clientGuid,
      dialects: request.dialects,
      capabilities: request.capabilities,
      securityMode: request.securityMode,
    },
    serverCapabilities:
      (isOldest ? 0 : CAPABILITY.largeMtu | CAPABILITY.leasing) |
      (dialect >= DIALECT.smb300 ? CAPABILITY.persistentHandles : 0) |
      (offersCipher ? CAPABILITY.encryption : 0),
    serverSecurityMode:
      SECURITY_MODE.signingEnabled | (signingRequired ? SECURITY_MODE.signingRequired : 0),
    transferBytesMax: transferBytesMax(dialect, cipher),
    preauthHash: NO_HASH,
  };
}

function transferBytesMax(dialect: Dialect, cipher: CipherId | null): number {
  if (dialect === DIALECT.smb202) return TRANSFER_BYTES_MAX_202;
  return cipher !== null && isCcm(cipher) ? TRANSFER_BYTES_MAX_CCM : TRANSFER_BYTES_MAX;
}

function chooseCipher(dialect: Dialect, request: NegotiateRequest): CipherId | null {
  if (dialect < DIALECT.smb300) return null;
  if (dialect < DIALECT.smb311) {
    return (request.capabilities & CAPABILITY.encryption) !== 0 ? CIPHER.aes128Ccm : null;
  }
  // The client's order counts. Linux, which puts AES-128 first, derives another signing key than
  // other clients if AES-256 is negotiated.
  return request.ciphers?.find(isCipher) ?? null;
}

function chooseSigning(dialect: Dialect, { signings }: NegotiateRequest): SigningAlgorithm {
  if (dialect !== DIALECT.smb311) return signingOf(dialect);
  return SIGNINGS.find((one) => signings?.includes(one)) ?? signingOf(dialect);
}

/** The choices in the contexts of 3.1.1, each only for a client that asked. */
function contextsOf(request: NegotiateRequest, negotiated: Negotiated): NegotiatedContexts {
  if (request.hashes === null) throw new StatusError(STATUS.INVALID_PARAMETER);
  if (!request.hashes.includes(SHA_512)) {
    throw new StatusError(STATUS.SMB_NO_PREAUTH_INTEGRITY_HASH_OVERLAP);
  }
  return {
    salt: randomBytes(SALT_BYTES),
    cipher: request.ciphers === null ? null : (negotiated.cipher ?? NO_CIPHER),
    signing: request.signings === null ? null : negotiated.signing,
  };
}

function answerBody(
  server: SmbServer,
  negotiated: Negotiated,
  contexts: NegotiatedContexts | null,
): Bytes {
  return writeNegotiate({
    dialect: negotiated.dialect,
    securityMode: negotiated.serverSecurityMode,
    capabilities: negotiated.serverCapabilities,
    serverGuid: server.guid,
    transferBytesMax: negotiated.transferBytesMax,
    time: fileTimeOfStamp(stampOf(server.options.clock.now())),
    token: serverHint(),
    contexts,
  });
}

const SMB1_WORDS = { any: "SMB 2.???", oldest: "SMB 2.002" };

/** Answers SMB1 only to make the client continue in SMB2. */
export function answerSmb1(connection: Connection, dialects: readonly string[]): void {
  const { server, credits } = connection;
  const isAny = dialects.includes(SMB1_WORDS.any);
  const isOldest = server.options.dialectMin <= DIALECT.smb202;
  if (!isAny && !(isOldest && dialects.includes(SMB1_WORDS.oldest))) throw new DropConnection();
  const dialect = isAny ? DIALECT.smb2Any : DIALECT.smb202;
  const client = { guid: Buffer.alloc(16), capabilities: 0, securityMode: 0, dialects: [dialect] };
  const request = { ...client, clientGuid: client.guid, ...NO_CONTEXTS };
  const negotiated = agree(server, dialect, request);
  if (!isAny) connection.negotiated = negotiated;
  if (!credits.use(0, 1)) throw new DropConnection();
  const header = blankHeader(COMMAND.negotiate);
  writeAnswerHeader(header, Buffer.from(header), {
    status: STATUS.SUCCESS,
    credits: credits.grant(1),
    sessionId: 0,
    treeId: 0,
    asyncId: null,
    signed: false,
  });
  connection.wire.send(unowned([header, answerBody(server, negotiated, null)]));
}

const NO_CONTEXTS = { hashes: null, ciphers: null, signings: null };
