import { type Finding, isTest, lineAt, type SourceFile } from "./finding.ts";

/**
 * The state that belongs to the process and not to one server, with the reason why it may. All
 * other state is a field of an object that `main` makes: servers in one process share nothing that
 * one of them could use up, close or leave behind.
 */
const OF_THE_PROCESS: readonly { readonly reason: string; readonly names: readonly string[] }[] = [
  {
    reason:
      "the memory of the process, to which compiled WebAssembly is bound, and what is placed in it",
    names: [
      "src/machine/aligned-bytes.ts freed",
      "src/machine/aligned-bytes.ts unusedAt",
      "src/machine/aligned-bytes.ts views",
      "src/machine/crc64.ts POWERS",
      "src/machine/crc64.ts tables",
      "src/machine/crc64.ts window",
      "src/engine/embedded/wal-file.ts zeros",
    ],
  },
  {
    reason: "a closed port, which stays closed",
    names: ["src/machine/free-memory.ts nowhere"],
  },
  {
    reason: "the order of work on the one event loop",
    names: ["src/base/fair-queue.ts fairQueue"],
  },
  {
    reason: "modules of worker threads, each of which belongs to one server",
    names: [
      "src/machine/md5-worker.ts lanes",
      "src/machine/sha256-worker.ts hashes",
      "src/engine/sum-worker.ts queue",
    ],
  },
  {
    reason: "ids of requests differ in the whole process",
    names: ["src/front/rest/http/request-id.ts count"],
  },
  {
    reason: "pools that only recycle: they limit no taker, and their idle memory is limited",
    names: ["src/front/smb/frame-memory.ts largest", "src/front/smb/frame-memory.ts usual"],
  },
  {
    reason: "scratch that one synchronous call fills and reads, or a table, made at the first use",
    names: [
      "src/base/eight-bytes.ts made",
      "src/base/fields.ts writer",
      "src/base/fold-case.ts table",
      "src/front/rest/blob/parse-tag-expression.ts TOKEN",
    ],
  },
  {
    reason: "small caches of pure functions: the same input has the same result on every server",
    names: [
      "src/base/stamp.ts lastDay",
      "src/base/stamp.ts lastDayText",
      "src/base/time-text.ts lastDay",
      "src/base/time-text.ts lastDayText",
      "src/base/time-text.ts lastSecond",
      "src/base/time-text.ts lastText",
      "src/front/rest/auth/shared-key.ts lastDate",
      "src/front/rest/blob/list-blobs.ts RENDERERS",
      "src/front/rest/file/item-headers.ts lastAttributes",
      "src/front/rest/file/item-headers.ts lastText",
      "src/front/rest/http/protocol-version.ts lastVersion",
      "src/front/rest/table/metadata-level.ts lastAsked",
      "src/front/rest/table/metadata-level.ts lastLevel",
      "src/service/blob/records.ts decodedPaths",
      "src/service/blob/records.ts lastContainer",
      "src/service/file/permissions.ts CANONICAL",
      "src/service/file/permissions.ts INHERITED",
      "src/service/shared/entry-cursor.ts DERIVATIONS",
    ],
  },
  {
    reason: "constants that nothing changes once they are made",
    names: [
      "src/front/rest/auth/header-order.ts WEIGHTS",
      "src/front/rest/blob/field-versions.ts BLOB_FIELD_VERSIONS",
      "src/front/rest/datalake/field-versions.ts DATALAKE_FIELD_VERSIONS",
      "src/front/rest/file/field-versions.ts FILE_FIELD_VERSIONS",
      "src/front/rest/queue/field-versions.ts QUEUE_FIELD_VERSIONS",
      "src/front/rest/table/field-versions.ts TABLE_FIELD_VERSIONS",
      "src/front/rest/xml/parse-xml.ts NO_ATTRIBUTES",
      "src/machine/shrinking-slabs.ts NONE_USED",
      "src/main/network-guard.ts loopback",
      "src/service/shared/entry-cursor.ts NO_ENTRIES",
    ],
  },
];

const DECLARED =
  /^(?:export )?(?<kind>let|var|const) (?<name>[\w$]+)(?:: (?<type>[^=]*?))?(?: =(?<value>.*))?;?$/gm;

/** `new Map([…])` that is declared as a `ReadonlyMap`: the compiler keeps it as it is. */
const READ_ONLY = /^Readonly(?:Map|Set)</;
const NEVER_STATE = /^ new RegExp\(/;
const MADE = /^ (?:new [A-Z]|alignedBytes\(|Buffer\.allocUnsafe)/;

/** Module-level state: a variable, a new object that is not read-only, or one that is changed. */
export function checkState({ path, text }: SourceFile): Finding[] {
  if (!/^src\/.*\.ts$/.test(path) || isTest(path)) return [];
  const found = new Map<string, number>();
  for (const match of text.matchAll(DECLARED)) {
    const { kind, name = "", type = "", value = "" } = match.groups as Record<string, string>;
    const isConstant = kind === "const" && (READ_ONLY.test(type) || NEVER_STATE.test(value));
    const isState = kind !== "const" || MADE.test(value) || isChanged(text, name);
    if (isState && !isConstant) found.set(name, lineAt(text, match.index));
  }
  return [...refused(path, found), ...outdated(path, found)];
}

/** Whether the file calls a method that changes it, or assigns to a part of it. */
function isChanged(text: string, name: string): boolean {
  const start = `(?<![\\w.#])${name.replaceAll("$", "\\$")}`;
  const part = "(?:\\.\\w+|\\[[^\\]\\n]+\\])";
  const methods = "add|clear|copyWithin|delete|fill|pop|push|set|shift|splice|unshift";
  const assigned = "(?: (?:[-+*|&^]|\\?\\?|\\|\\||&&)?= |\\+\\+|--)";
  return new RegExp(`${start}\\.(?:${methods})\\(|${start}${part}+${assigned}`).test(text);
}

function refused(path: string, found: ReadonlyMap<string, number>): Finding[] {
  const listed = listedIn(path);
  return [...found].flatMap(([name, line]) => {
    if (listed.includes(name)) return [];
    const message = `${name} is state of the module: make it a field of what main makes`;
    return [{ path, line, rule: "state", message }];
  });
}

function outdated(path: string, found: ReadonlyMap<string, number>): Finding[] {
  return listedIn(path).flatMap((name) => {
    if (found.has(name)) return [];
    const message = `${name} is no state any more: take it off the list of tools/tidy/state.ts`;
    return [{ path, line: 1, rule: "state", message }];
  });
}

function listedIn(path: string): string[] {
  return OF_THE_PROCESS.flatMap(({ names }) => names)
    .filter((entry) => entry.startsWith(`${path} `))
    .map((entry) => entry.slice(path.length + 1));
}
