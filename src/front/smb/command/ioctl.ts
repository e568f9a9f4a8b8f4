import type { Bytes } from "../../../base/bytes.ts";
import { type Answer, answered, type Call, success } from "../call.ts";
import { CONTROL, type IoctlRequest, readIoctl, writeIoctl } from "../codec/ioctl.ts";
import { writeSnapshots } from "../codec/snapshots.ts";
import { isNegotiationIntact, writeValidateNegotiate } from "../codec/validate-negotiate.ts";
import { Writer } from "../codec/wire.ts";
import { DropConnection } from "../drop-connection.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { snapshotsOf } from "../previous-versions.ts";
import { copyChunks, requestResumeKey } from "./copy-chunk.ts";

const OBJECT_ID_BYTES = 64;
const SNAPSHOTS_BYTES_MIN = 16;

export async function handleIoctl(call: Call): Promise<Answer> {
  const request = readIoctl(call.message);
  if (!request.isFsctl) throw new StatusError(STATUS.NOT_SUPPORTED);
  call.expectCharge(Math.max(request.input.length, request.outputBytesMax));
  switch (request.code) {
    case CONTROL.validateNegotiate:
      return success(writeIoctl(request, validateNegotiate(call, request)));
    case CONTROL.pipeTransceive:
      return await transceive(call, request);
    case CONTROL.requestResumeKey:
      return requestResumeKey(call, request);
    case CONTROL.copyChunk:
    case CONTROL.copyChunkWrite:
      return await copyChunks(call, request);
    case CONTROL.enumerateSnapshots:
      return success(writeIoctl(request, await enumerateSnapshots(call, request)));
    case CONTROL.createOrGetObjectId:
      return success(writeIoctl(request, objectIdOf(call, request)));
    case CONTROL.queryNetworkInterfaces:
      throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
    case CONTROL.dfsGetReferrals:
    case CONTROL.dfsGetReferralsEx:
      // Clients ask for DFS referrals before they connect to a share; there are none here.
      throw new StatusError(STATUS.NOT_FOUND);
    default:
      call.open(request.fileId);
      throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  }
}

/** Confirms, in a signed message, that NEGOTIATE arrived unchanged. */
function validateNegotiate(
  { connection, server }: Call,
  { input, outputBytesMax }: IoctlRequest,
): Bytes {
  const { negotiated } = connection;
  if (!isNegotiationIntact(input, negotiated.client)) throw new DropConnection();
  const output = writeValidateNegotiate(negotiated, server.guid);
  if (output.length > outputBytesMax) throw new DropConnection();
  return output;
}

/** Lists the snapshots of the share, for any file or directory. */
async function enumerateSnapshots(
  call: Call,
  { fileId, outputBytesMax }: IoctlRequest,
): Promise<Bytes> {
  const open = call.open(fileId);
  if (open.kind !== "file") throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  if (outputBytesMax < SNAPSHOTS_BYTES_MIN) throw new StatusError(STATUS.INVALID_PARAMETER);
  return writeSnapshots(await snapshotsOf(call, open.asked.at.share), outputBytesMax);
}

/** The object id, by which some programs find a file that was moved. */
function objectIdOf(call: Call, { fileId, outputBytesMax }: IoctlRequest): Bytes {
  const open = call.open(fileId);
  if (open.kind !== "file") throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  if (outputBytesMax < OBJECT_ID_BYTES) throw new StatusError(STATUS.INVALID_PARAMETER);
  const id = new Writer().u64(open.asked.item).u64(0).done();
  return new Writer().bytes(id).zeros(16).bytes(id).zeros(16).done();
}

async function transceive(call: Call, request: IoctlRequest): Promise<Answer> {
  const open = call.open(request.fileId);
  if (open.kind !== "pipe") throw new StatusError(STATUS.INVALID_DEVICE_REQUEST);
  await open.write(request.input);
  const { bytes, hasMore } = open.read(request.outputBytesMax);
  const status = hasMore ? STATUS.BUFFER_OVERFLOW : STATUS.SUCCESS;
  return answered(status, [writeIoctl(request, bytes)]);
}
