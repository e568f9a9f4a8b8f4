import type { FileOpen } from "./file-open.ts";

/** What a client calls an open by itself, beside the number that the server gives it. */
export interface OpenNames {
  /** The machine. */
  readonly client: string;
  /** The same in a request that is sent again; null if the client gives none. */
  readonly create: string | null;
  /** Of a program that may go on at another machine; null for others. */
  readonly instance: string | null;
}

/** Opens that are found by the names that their clients gave them. */
export class NamedOpens {
  /** Null while the request is under way. */
  readonly #creates = new Map<string, FileOpen | null>();
  readonly #instances = new Map<string, Set<FileOpen>>();

  /** Undefined if nothing was asked for under this name; null if it is not answered yet. */
  created(names: OpenNames): FileOpen | null | undefined {
    const name = createName(names);
    return name === null ? undefined : this.#creates.get(name);
  }

  /** A request is under way, until it is ended. */
  begin(names: OpenNames): void {
    const name = createName(names);
    if (name !== null) this.#creates.set(name, null);
  }

  end(names: OpenNames): void {
    const name = createName(names);
    if (name !== null && this.#creates.get(name) === null) this.#creates.delete(name);
  }

  add(open: FileOpen): void {
    if (open.names === null) return;
    const { instance } = open.names;
    const name = createName(open.names);
    if (name !== null) this.#creates.set(name, open);
    if (instance === null) return;
    const opens = this.#instances.get(instance) ?? new Set();
    this.#instances.set(instance, opens.add(open));
  }

  /** The client works with it, and so has got the answer. */
  use(open: FileOpen): void {
    const name = open.names === null ? null : createName(open.names);
    if (name !== null && this.#creates.get(name) === open) this.#creates.delete(name);
  }

  delete(open: FileOpen): void {
    if (open.names === null) return;
    const { instance } = open.names;
    this.use(open);
    const opens = instance === null ? undefined : this.#instances.get(instance);
    if (!opens?.delete(open)) return;
    if (opens.size === 0) this.#instances.delete(instance as string);
  }

  /** What the same program has open at other machines. */
  elsewhere({ client, instance }: OpenNames): FileOpen[] {
    const opens = instance === null ? undefined : this.#instances.get(instance);
    return [...(opens ?? [])].filter(({ names }) => names?.client !== client);
  }
}

function createName({ client, create }: OpenNames): string | null {
  return create === null ? null : `${client} ${create}`;
}
