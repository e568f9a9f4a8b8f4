import type { FileOpen } from "./file-open.ts";
import type { OpenNames } from "./open-names.ts";

/** Finds opens by the names that their clients gave them. */
export class NamedOpens {
  /** Null while the request is being answered. */
  readonly #creates = new Map<string, FileOpen | null>();
  readonly #instances = new Map<string, Set<FileOpen>>();

  /** Undefined if there was no request with this name; null if it is not answered yet. */
  created(names: OpenNames): FileOpen | null | undefined {
    const name = createName(names);
    return name === null ? undefined : this.#creates.get(name);
  }

  /** Registers a request, until `end` or `add`. */
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

  /** Forgets the create GUID once the client uses the open, and so has got the response. */
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

  /** The opens of the same program on other machines. */
  elsewhere({ client, instance }: OpenNames): FileOpen[] {
    const opens = instance === null ? undefined : this.#instances.get(instance);
    return [...(opens ?? [])].filter(({ names }) => names?.client !== client);
  }
}

function createName({ client, create }: OpenNames): string | null {
  return create === null ? null : `${client} ${create}`;
}
