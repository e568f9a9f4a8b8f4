import { OWNER } from "../../src/rules/access.ts";
import type { Open } from "../../src/rules/share-mode.ts";
import { DELETE, READ, WRITE } from "../../src/rules/share-mode.ts";
import type { HandleAsked } from "../../src/service/file/admit-handle.ts";
import { closeHandle } from "../../src/service/file/close-handle.ts";
import { NO_SETTINGS } from "../../src/service/file/item-settings.ts";
import { type OpenFile, openFile } from "../../src/service/file/open-file.ts";
import { setDeletePending } from "../../src/service/file/set-delete-pending.ts";
import type { FileServer } from "./file-server.ts";

export const ALL = READ | WRITE | DELETE;

/** Opens handles like an SMB client, directly through the service. */
export class Handles {
  readonly #server: FileServer;
  readonly #share: string;

  constructor(server: FileServer, share: string) {
    this.#server = server;
    this.#share = share;
  }

  /** `path` is like `dir/file`; "" for the root. */
  async open(path: string, mode: Open, more: Partial<OpenFile> = {}): Promise<HandleAsked> {
    const at = { account: this.#server.account, share: this.#share, snapshot: null };
    const names = path.split("/").filter((name) => name !== "");
    const { handle, item } = await openFile(this.#server.context, {
      at: { ...at, path: names, trailingDots: false },
      access: OWNER,
      disposition: "open",
      kind: null,
      mode,
      deletesOnClose: false,
      settings: NO_SETTINGS,
      opener: { epoch: 1n, sessionId: 42n, clientIp: "10.0.0.1:445" },
      caching: null,
      persistent: null,
      looksAt: "contents",
      ...more,
    });
    return { at, item: item.id, handle };
  }

  async close(handle: HandleAsked): Promise<void> {
    await closeHandle(this.#server.context, handle);
  }

  mark(handle: HandleAsked, isPending: boolean): Promise<void> {
    return setDeletePending(this.#server.context, { ...handle, isPending });
  }
}
