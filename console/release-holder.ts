import { countOf } from "../src/front/console/holder-words.ts";
import type { Held, Holder } from "../src/service/shared/holder.ts";
import type { Account, Asked } from "./storage.ts";

/** How somebody else can end what is held, and what that does to whom. */
export interface Ending {
  /** The words on its button. */
  readonly action: string;
  readonly warning: string;
  end(account: Account): Promise<void>;
}

/** The ways to end what is held. `all` are the holders, among whom are those that suffer from it. */
export function endingsOf(holder: Holder, all: readonly Holder[]): readonly Ending[] {
  const { account, container, path, held } = holder;
  if (held.kind === "cache") return cacheEndings(held, [container, path], whom(holder, all));
  if (held.kind === "session") return sessionEndings(account, held, all);
  return [endingOf({ ...holder, held }, whom(holder, all))];
}

type Cache = Extract<Held, { kind: "cache" }>;
type SmbSession = Extract<Held, { kind: "session" }>;

/** A session that has nothing open stands in nobody's way. */
function sessionEndings(account: string, { id, clientIp }: SmbSession, all: readonly Holder[]) {
  const handles = all.flatMap((one) => {
    const { held } = one;
    const isOfSession = held.kind === "handle" && held.sessionId === id && one.account === account;
    return isOfSession ? [closing(namesOf(one), held.id, "")] : [];
  });
  if (handles.length === 0) return [];
  const ending: Ending = {
    action: "Close handles",
    warning: `Everything that ${clientIp} has open becomes invalid (${countOf(handles.length, "handle")}): what it has cached is lost, and its next use of a handle fails. The client stays logged on, and may open files again.`,
    end: async (by) => {
      for (const handle of handles) await handle.end(by);
    },
  };
  return [ending];
}

function cacheEndings({ rights }: Cache, names: readonly string[], whom: string): Ending[] {
  const closing = closingAll(
    names,
    `A client gives up a cache only when somebody else uses the file. This closes all handles of the file instead: what clients have cached and not yet written is lost. ${whom}`,
  );
  if (!rights.includes("W")) return [closing];
  const asking: Ending = {
    action: "Ask to write back",
    warning: `The server asks the client for what it has cached, and waits until it is written. The client keeps its handles and may still cache what it reads: nothing is lost. A client that does not answer in time loses the cache. ${whom}`,
    // To tell the file's properties, the server must know everything that was written.
    end: (account) => done(account, { service: "file", method: "HEAD", path: names }),
  };
  return [asking, closing];
}

/** Which clients have the file open. */
function whom({ account, container, path }: Holder, all: readonly Holder[]): string {
  const handles = all.flatMap((one) =>
    one.account === account &&
    one.container === container &&
    one.path === path &&
    one.held.kind === "handle"
      ? [one.held.clientIp]
      : [],
  );
  const clients = [...new Set(handles)];
  if (clients.length === 0) return "No client is known to have it open.";
  return `It concerns ${countOf(handles.length, "handle")} of ${clients.join(", ")}.`;
}

function namesOf({ container, path }: Pick<Holder, "container" | "path">): string[] {
  return path === "" ? [container] : [container, path];
}

type OneEnding = Holder & { readonly held: Exclude<Held, Cache | SmbSession> };

function endingOf({ container, path, held }: OneEnding, whom: string): Ending {
  const names = namesOf({ container, path });
  switch (held.kind) {
    case "lease": {
      const isFile = held.object === "share" || held.object === "file";
      const isContainer = held.object === "container" || held.object === "share";
      const restype = isContainer ? { restype: held.object } : {};
      return {
        action: "Break lease",
        warning:
          "The lease ends at once. Its holder's next write or renewal with this lease id is refused with 412 or 409, and others may write.",
        end: (account) =>
          done(account, {
            service: isFile ? "file" : "blob",
            method: "PUT",
            path: names,
            query: { comp: "lease", ...restype },
            headers: { "x-ms-lease-action": "break", "x-ms-lease-break-period": "0" },
          }),
      };
    }
    case "handle":
      return closing(
        names,
        held.id,
        `The handle of ${held.clientIp} becomes invalid: what it has cached is lost, and its next use of the handle fails. Its locks and oplocks end with it.${held.deletesOnClose ? " The file is deleted, since the handle was opened to delete it on close." : ""}`,
      );
    case "lock":
      return closing(
        names,
        held.handle,
        `SMB has no way to take one lock away: this closes the handle that holds it. The client's next use of the handle fails. ${whom}`,
      );
    case "message":
      return {
        action: "Show again",
        warning:
          "The message becomes visible now. The client that works on it can no longer delete or update it, and another client may get it a second time.",
        end: (account) => showMessage(account, container, held.id, held.popReceipt),
      };
    case "copy":
      return {
        action: "Abort copy",
        warning: "The copy stops. Its target stays, with no bytes.",
        end: (account) =>
          done(account, {
            service: held.object,
            method: "PUT",
            path: names,
            query: { comp: "copy", copyid: held.id },
            headers: { "x-ms-copy-action": "abort" },
          }),
      };
    case "deletePending":
      return {
        ...closingAll(
          names,
          `Closes all its handles, so that it is deleted now, for good. Without that it goes when the last client closes it, and a client that opened it for deletion may still change its mind. ${whom}`,
        ),
        action: "Delete now",
      };
  }
}

/** Closes every handle of a file or directory. */
function closingAll(names: readonly string[], warning: string): Ending {
  return { ...closing(names, "*", warning), action: "Close handles" };
}

function closing(names: readonly string[], handle: string, warning: string): Ending {
  return {
    action: "Close handle",
    warning,
    end: (account) =>
      done(account, {
        service: "file",
        method: "PUT",
        path: names,
        query: { comp: "forceclosehandles" },
        headers: { "x-ms-handle-id": handle },
      }),
  };
}

/** An update without a body leaves the text as it is. */
async function showMessage(account: Account, queue: string, id: string, popreceipt: string) {
  await done(account, {
    service: "queue",
    method: "PUT",
    path: [queue, "messages", id],
    query: { popreceipt, visibilitytimeout: "0" },
  });
}

async function done(account: Account, asked: Asked): Promise<void> {
  await account.ask(asked);
}
