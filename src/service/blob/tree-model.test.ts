import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { Fault } from "../../base/fault.ts";
import { listBlobs } from "./list-blobs.ts";
import { Paths } from "./paths.fixture.ts";

/**
 * Random creates, renames, deletes and lists through both protocols, compared with a plain tree in
 * memory.
 */

interface Directory {
  readonly kind: "directory";
  readonly entries: Map<string, Node>;
}
type Node = Directory | { readonly kind: "file"; readonly text: string };

/** Returns a fault code, or "" if the operation succeeds. */
class Tree {
  readonly root: Directory = { kind: "directory", entries: new Map() };

  find(path: readonly string[]): Node | null {
    let node: Node | null = this.root;
    for (const name of path) {
      node = node?.kind === "directory" ? (node.entries.get(name) ?? null) : null;
    }
    return node;
  }

  put(path: readonly string[], text: string): string {
    const parent = this.#make(path.slice(0, -1));
    if (parent === null || this.find(path)?.kind === "directory") return "PathConflict";
    parent.entries.set(path.at(-1) as string, { kind: "file", text });
    return "";
  }

  makeDirectory(path: readonly string[]): string {
    if (this.find(path)?.kind === "file") return "PathConflict";
    return this.#make(path) === null ? "PathConflict" : "";
  }

  delete(path: readonly string[], isRecursive: boolean): string {
    const found = this.find(path);
    if (found === null) return "BlobNotFound";
    const isFilled = found.kind === "directory" && found.entries.size > 0;
    if (isFilled && !isRecursive) return "DirectoryNotEmpty";
    this.#entriesAbove(path).delete(path.at(-1) as string);
    return "";
  }

  rename(from: readonly string[], to: readonly string[]): string {
    const source = this.find(from);
    if (source === null) return "SourcePathNotFound";
    const way = to.slice(0, -1).map((_, depth) => this.find(to.slice(0, depth + 1)));
    if (way.some((node) => node?.kind === "file")) return "InvalidDestinationPath";
    if (way.includes(null)) return "RenameDestinationParentPathNotFound";
    const isWithin = from.every((name, depth) => to[depth] === name);
    if (source.kind === "directory" && isWithin) return "InvalidRenameSourcePath";
    const target = this.find(to);
    if (target !== null && target.kind !== source.kind) {
      return "InvalidSourceOrDestinationResourceType";
    }
    if (target?.kind === "directory" && target.entries.size > 0) return "DirectoryNotEmpty";
    this.#entriesAbove(from).delete(from.at(-1) as string);
    this.#entriesAbove(to).set(to.at(-1) as string, source);
    return "";
  }

  /** Null if a file is in the way; then nothing is made. */
  #make(path: readonly string[]): Directory | null {
    const way = path.map((_, depth) => this.find(path.slice(0, depth + 1)));
    if (way.some((node) => node?.kind === "file")) return null;
    let parent = this.root;
    for (const name of path) {
      const found = parent.entries.get(name);
      const next: Directory =
        found?.kind === "directory" ? found : { kind: "directory", entries: new Map() };
      parent.entries.set(name, next);
      parent = next;
    }
    return parent;
  }

  #entriesAbove(path: readonly string[]): Map<string, Node> {
    return (this.find(path.slice(0, -1)) as Directory).entries;
  }

  /** Depth first, directories with a final slash. */
  list(path: readonly string[]): string[] {
    const { entries } = this.find(path) as Directory;
    return [...entries.keys()].sort().flatMap((name) => {
      const below = [...path, name];
      const isFile = entries.get(name)?.kind === "file";
      return isFile ? [below.join("/")] : [`${below.join("/")}/`, ...this.list(below)];
    });
  }
}

const path = fc.array(fc.constantFrom("a", "a-", "b"), { minLength: 1, maxLength: 4 });

const step = fc.oneof(
  { weight: 4, arbitrary: fc.record({ step: fc.constant("write" as const), path }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant("put" as const), path }) },
  { weight: 3, arbitrary: fc.record({ step: fc.constant("directory" as const), path }) },
  { weight: 6, arbitrary: fc.record({ step: fc.constant("rename" as const), path, to: path }) },
  {
    weight: 2,
    arbitrary: fc.record({ step: fc.constant("delete" as const), path, all: fc.boolean() }),
  },
  { weight: 1, arbitrary: fc.record({ step: fc.constant("sweep" as const) }) },
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

test("a tree is what a plain tree would be, seen through both protocols", async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.integer({ min: 1, max: 4 }), run),
    { numRuns: 150 },
  );
});

async function run(steps: readonly Step[], pageItems: number): Promise<void> {
  const paths = await Paths.openHierarchical();
  const tree = new Tree();
  for (const [at, asked] of steps.entries()) {
    if (asked.step === "sweep") {
      await paths.blobs.sweep();
      continue;
    }
    const name = asked.path.join("/");
    const text = `text ${at}`;
    switch (asked.step) {
      case "write":
        assert.equal(await codeOf(paths.write(name, text)), tree.put(asked.path, text));
        break;
      case "put":
        assert.equal(await codeOf(paths.blobs.put(name, text)), tree.put(asked.path, text));
        break;
      case "directory":
        assert.equal(await codeOf(paths.create("directory", name)), tree.makeDirectory(asked.path));
        break;
      case "rename":
        assert.equal(
          await codeOf(paths.rename(name, asked.to.join("/"))),
          tree.rename(asked.path, asked.to),
        );
        break;
      case "delete":
        assert.equal(
          await codeOf(paths.delete(name, { isRecursive: asked.all })),
          tree.delete(asked.path, asked.all),
        );
        break;
    }
  }
  await compare(paths, tree, pageItems);
}

async function compare(paths: Paths, tree: Tree, pageItems: number): Promise<void> {
  const all = tree.list([]);
  assert.deepEqual(await paths.list({ isRecursive: true }), all);
  assert.deepEqual(await inPages(paths, pageItems), all);
  assert.deepEqual(await blobNames(paths, ""), all.map(withoutSlash));
  for (const name of all) {
    const node = tree.find(withoutSlash(name).split("/"));
    if (node?.kind === "file") assert.equal(await paths.blobs.text(name), node.text);
    else {
      const level = all.filter((one) => parentOf(one) === name);
      assert.deepEqual(await paths.list({ directory: withoutSlash(name) }), level);
      assert.deepEqual(await blobNames(paths, "/", name), level);
    }
  }
}

async function inPages(paths: Paths, resultsMax: number): Promise<string[]> {
  const found: string[] = [];
  let after: string | null = null;
  do {
    const asked: Parameters<Paths["page"]>[0] = { isRecursive: true, resultsMax, after };
    const page: { names: string[]; next: string | null } = await paths.page(asked);
    found.push(...page.names);
    after = page.next;
  } while (after !== null);
  return found;
}

/** What List Blobs shows. */
async function blobNames(paths: Paths, delimiter: string, prefix = ""): Promise<string[]> {
  const { at, access } = paths.blobs.use("");
  const kinds = {
    uncommitted: false,
    snapshots: false,
    versions: false,
    deleted: false,
    versionsOnly: false,
  };
  const names: string[] = [];
  const pages = listBlobs(paths.blobs.context, {
    at,
    access,
    prefix,
    delimiter,
    startFrom: "",
    endBefore: "",
    after: null,
    resultsMax: 5_000,
    kinds,
    tags: false,
  });
  for await (const page of pages) names.push(...page.items.map(({ name }) => name));
  return names;
}

function withoutSlash(name: string): string {
  return name.endsWith("/") ? name.slice(0, -1) : name;
}

function parentOf(name: string): string {
  const path = withoutSlash(name);
  return path.slice(0, path.lastIndexOf("/") + 1);
}

async function codeOf(done: Promise<unknown>): Promise<string> {
  try {
    await done;
    return "";
  } catch (error) {
    if (error instanceof Fault) return error.code;
    throw error;
  }
}
