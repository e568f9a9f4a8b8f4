import type { Holder } from "./api.ts";
import type { Account, Asked } from "./storage.ts";

/** How somebody else can end what is held, and what that does to whom. */
export interface Ending {
  readonly action: string;
  readonly warning: string;
  end(account: Account): Promise<void>;
}

/** Null if only the holder can end it. */
export function endingOf({ container, path, held }: Holder): Ending | null {
  const names = path === "" ? [container] : [container, path];
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
        "The client's handle becomes invalid: what it has cached is lost, and its next use of the handle fails. Its locks and oplocks end with it.",
      );
    case "lock":
      return closing(
        names,
        held.handle,
        "SMB has no way to take one lock away: this closes the handle that holds it. The client's next use of the handle fails.",
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
    case "cache":
    case "deletePending":
      return null;
  }
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
