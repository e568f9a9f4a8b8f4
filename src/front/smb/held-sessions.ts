import type { Holder } from "../../service/shared/holder.ts";
import { dialectName } from "./codec/negotiate.ts";
import type { Session } from "./session.ts";

/** The sessions of clients that are logged on, whether they have something open or not. */
export function heldSessions(sessions: Iterable<Session>): readonly Holder[] {
  return [...sessions]
    .filter(({ isValid }) => isValid)
    .map((session) => ({
      account: session.account,
      container: "",
      path: "",
      held: {
        kind: "session",
        id: String(session.id),
        clientIp: session.clientIp,
        dialect: dialectName(session.dialect),
        isEncrypted: session.encryptionRequired || session.isSealing,
        opens: session.opens.size,
        beganMs: session.beganMs,
      },
    }));
}
