import type { Answer, Call } from "./call.ts";
import { readCreate } from "./codec/create.ts";
import { isFileIdBefore } from "./codec/file-id.ts";
import { COMMAND } from "./codec/header.ts";
import { fileNamedIn } from "./codec/named-file.ts";
import { StatusError } from "./nt-status.ts";
import { operationName } from "./operation-name.ts";
import type { GatedRequest, SmbGate } from "./smb-gate.ts";
import { requestIdOf } from "./smb-outcome.ts";

const LOG_ONS: ReadonlySet<number> = new Set([COMMAND.negotiate, COMMAND.sessionSetup]);

/** Whether a gate sees these requests: log-ons have no account yet, and CANCEL has no response. */
export function isGated(command: number): boolean {
  return !LOG_ONS.has(command) && command !== COMMAND.cancel;
}

/** Handles a request behind a gate. */
export async function handleThrough(
  gate: SmbGate,
  call: Call,
  handle: () => Promise<Answer>,
): Promise<Answer> {
  const { header, hasSession, chain } = call;
  if (!isGated(header.command) || !hasSession || !call.session.isValid) return handle();
  try {
    return await gate.pass(gatedRequest(call), handle);
  } catch (error) {
    // A file whose client was told that it was not opened is not there for the rest of a compound.
    if (header.command === COMMAND.create) chain.fileId = null;
    throw error;
  }
}

function gatedRequest(call: Call): GatedRequest {
  const { header, session, facts, connection } = call;
  return {
    operation: operationName(header.command),
    account: session.account,
    share: facts.share ?? "",
    path: pathOf(call),
    requestId: requestIdOf(connection, header.messageId),
  };
}

/** The path that a request is about. Its handler has not checked it yet. */
function pathOf({ header, message, session, chain }: Call): string {
  if (header.command === COMMAND.create) return nameIn(message);
  const named = fileNamedIn(header.command, message);
  if (named === null) return "";
  const fileId = isFileIdBefore(named) ? chain.fileId : named;
  const open = fileId === null ? undefined : session.opens.get(fileId.volatile);
  return open?.kind === "file" ? (open.openedAs ?? "") : "";
}

function nameIn(message: Call["message"]): string {
  try {
    return readCreate(message).name.replaceAll("\\", "/");
  } catch (error) {
    // The handler refuses it.
    if (error instanceof StatusError) return "";
    throw error;
  }
}
