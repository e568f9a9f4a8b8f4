import type { Answer, Call } from "./call.ts";
import { COMMAND } from "./codec/header.ts";
import { handleChangeNotify } from "./command/change-notify.ts";
import { handleClose } from "./command/close.ts";
import { handleCreate } from "./command/create.ts";
import { handleEcho } from "./command/echo.ts";
import { handleFlush } from "./command/flush.ts";
import { handleIoctl } from "./command/ioctl.ts";
import { handleLock } from "./command/lock.ts";
import { handleLogoff } from "./command/logoff.ts";
import { handleNegotiate } from "./command/negotiate.ts";
import { handleOplockBreak } from "./command/oplock-break.ts";
import { handleQueryDirectory } from "./command/query-directory.ts";
import { handleQueryInfo } from "./command/query-info.ts";
import { handleRead } from "./command/read.ts";
import { handleSessionSetup } from "./command/session-setup.ts";
import { handleSetInfo } from "./command/set-info.ts";
import { handleTreeConnect } from "./command/tree-connect.ts";
import { handleTreeDisconnect } from "./command/tree-disconnect.ts";
import { handleWrite } from "./command/write.ts";

export interface Command {
  /** What a request must name. CANCEL is not in the table, because it has no response. */
  readonly needs: "nothing" | "session" | "tree";
  /** Throws a `StatusError` or a `Fault` to refuse. */
  handle(call: Call): Answer | Promise<Answer>;
}

/** Every command of the protocol that has a response. */
export const COMMANDS: ReadonlyMap<number, Command> = new Map<number, Command>([
  [COMMAND.negotiate, { needs: "nothing", handle: handleNegotiate }],
  [COMMAND.sessionSetup, { needs: "session", handle: handleSessionSetup }],
  [COMMAND.logoff, { needs: "session", handle: handleLogoff }],
  [COMMAND.treeConnect, { needs: "session", handle: handleTreeConnect }],
  [COMMAND.treeDisconnect, { needs: "tree", handle: handleTreeDisconnect }],
  [COMMAND.create, { needs: "tree", handle: handleCreate }],
  [COMMAND.close, { needs: "tree", handle: handleClose }],
  [COMMAND.flush, { needs: "tree", handle: handleFlush }],
  [COMMAND.read, { needs: "tree", handle: handleRead }],
  [COMMAND.write, { needs: "tree", handle: handleWrite }],
  [COMMAND.lock, { needs: "tree", handle: handleLock }],
  [COMMAND.ioctl, { needs: "tree", handle: handleIoctl }],
  [COMMAND.echo, { needs: "nothing", handle: handleEcho }],
  [COMMAND.queryDirectory, { needs: "tree", handle: handleQueryDirectory }],
  [COMMAND.changeNotify, { needs: "tree", handle: handleChangeNotify }],
  [COMMAND.queryInfo, { needs: "tree", handle: handleQueryInfo }],
  [COMMAND.setInfo, { needs: "tree", handle: handleSetInfo }],
  [COMMAND.oplockBreak, { needs: "tree", handle: handleOplockBreak }],
]);
