import { posix } from "node:path";
import type { Finding, SourceFile } from "./finding.ts";
import { importsOf } from "./imports.ts";

interface Link {
  readonly line: number;
  readonly to: string;
}

/**
 * Files that import each other, also through others and also only for types: none of them can be
 * read, tested or moved without the rest. Names each file in one cycle at most.
 */
export function checkCycles(files: readonly SourceFile[]): Finding[] {
  const links = new Map(files.map((file) => [file.path, linksOf(file)]));
  const done = new Set<string>();
  const named = new Set<string>();
  const findings: Finding[] = [];
  for (const cycle of [...links.keys()].flatMap((path) => cyclesFrom(path, links, done))) {
    if (cycle.some(({ path }) => named.has(path))) continue;
    for (const { path } of cycle) named.add(path);
    findings.push(findingOf(cycle));
  }
  return findings;
}

function linksOf({ path, text }: SourceFile): Link[] {
  return importsOf(text)
    .filter(({ from }) => from.startsWith("."))
    .map(({ line, from }) => ({ line, to: posix.join(posix.dirname(path), from) }));
}

/** A file on the way through the imports. */
interface Step {
  readonly path: string;
  readonly unfollowed: Link[];
  /** The line of the import that is being followed. */
  line: number;
}

/** Follows all imports, depth first, and notes each that leads back to a file on the way. */
function cyclesFrom(
  from: string,
  links: ReadonlyMap<string, readonly Link[]>,
  done: Set<string>,
): Step[][] {
  const cycles: Step[][] = [];
  const way: Step[] = [];
  const enter = (path: string) => {
    if (done.has(path)) return;
    done.add(path);
    way.push({ path, unfollowed: [...(links.get(path) ?? [])], line: 0 });
  };
  enter(from);
  for (let step = way.at(-1); step !== undefined; step = way.at(-1)) {
    const link = step.unfollowed.shift();
    if (link === undefined) {
      way.pop();
      continue;
    }
    step.line = link.line;
    const start = way.findIndex(({ path }) => path === link.to);
    if (start >= 0) cycles.push(way.slice(start).map((one) => ({ ...one })));
    else enter(link.to);
  }
  return cycles;
}

function findingOf(cycle: readonly Step[]): Finding {
  const [{ path, line }] = cycle as [Step];
  const names = [...cycle, { path }].map((one) => one.path).join(" -> ");
  const message = `an import cycle: ${names}; give one of them a narrow interface of its own`;
  return { path, line, rule: "cycle", message };
}
