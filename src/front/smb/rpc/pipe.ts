import type { Bytes } from "../../../base/bytes.ts";
import type { FileContext } from "../../../service/file/context.ts";
import type { FileId } from "../codec/file-id.ts";
import { STATUS, StatusError } from "../nt-status.ts";
import { OpenBase } from "../open-base.ts";
import { sharesOf } from "../shares.ts";
import { RpcConversation } from "./conversation.ts";
import { SRVSVC, serveSrvsvc } from "./srvsvc.ts";

export interface PipeOwner {
  readonly fileId: FileId;
  readonly treeId: number;
  readonly account: string;
  /** Where the names of shares are found. */
  readonly files: FileContext;
}

/** Opens the pipe of this name; null if no service listens on it. */
export function openPipe(name: string, owner: PipeOwner): PipeOpen | null {
  const plain = name.toLowerCase().replace(/^\\?(?:pipe\\)?/, "");
  return plain === SRVSVC.pipe ? new PipeOpen(owner) : null;
}

/** An open pipe. The client writes a request and reads the response, or does both in one call. */
export class PipeOpen extends OpenBase {
  readonly kind = "pipe";
  readonly #conversation: RpcConversation;
  #answers: Bytes[] = [];

  constructor({ fileId, treeId, account, files }: PipeOwner) {
    super(fileId, treeId);
    this.#conversation = new RpcConversation(SRVSVC, async (operation, input) =>
      serveSrvsvc(operation, input, await sharesOf(files, account)),
    );
  }

  async write(bytes: Bytes): Promise<void> {
    this.#answers.push(...(await this.#conversation.take(bytes)));
  }

  /** Reads as much of the first waiting response as fits; the rest comes with the next read. */
  read(bytesMax: number): { readonly bytes: Bytes; readonly hasMore: boolean } {
    const [first] = this.#answers;
    if (first === undefined) throw new StatusError(STATUS.PIPE_DISCONNECTED);
    const bytes = first.subarray(0, bytesMax);
    const rest = first.subarray(bytes.length);
    if (rest.length > 0) this.#answers[0] = rest;
    else this.#answers.shift();
    return { bytes, hasMore: rest.length > 0 };
  }

  async close(): Promise<void> {
    this.#answers = [];
  }
}
