import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { FILE_HANDLERS } from "./handlers.ts";
import { FILE_ROUTES, type FileOperationName } from "./route.ts";

/** This file runs from `dist`. */
const REFERENCE = fileURLToPath(
  new URL("../../../../../docs/reference/file-operations.md", import.meta.url),
);

test("docs/reference/file-operations.md says of every operation whether it is supported", () => {
  const expected = reference();
  if (process.env.LAZULI_WRITE_REFERENCE !== undefined) writeFileSync(REFERENCE, expected);
  assert.equal(
    readFileSync(REFERENCE, "utf8"),
    expected,
    "The reference is out of date. Write it anew: LAZULI_WRITE_REFERENCE=1 npm test",
  );
});

test("whatever has a handler can be asked for", () => {
  const names = new Set(rows().map(({ operation }) => operation));
  for (const operation of Object.keys(FILE_HANDLERS)) {
    assert.ok(names.has(operation as FileOperationName), operation);
  }
});

interface Row {
  readonly operation: FileOperationName;
  readonly request: string;
}

/** Those that take more than method and `comp` to tell. */
const OTHERS: readonly Row[] = [
  { operation: "copyFile", request: "PUT file with `x-ms-copy-source`" },
  { operation: "putRangeFromUrl", request: "PUT file `comp=range` with `x-ms-copy-source`" },
  { operation: "createSymbolicLink", request: "PUT file `restype=symboliclink`" },
  { operation: "getSymbolicLink", request: "GET file `restype=symboliclink`" },
  { operation: "createHardLink", request: "PUT file `restype=hardlink`" },
];

function rows(): Row[] {
  const routed = Object.entries(FILE_ROUTES).flatMap(([level, routes]) =>
    Object.entries(routes).map(([route, operation]) => {
      const [method, comp, restype] = route.split(" ");
      const query = [comp && `\`comp=${comp}\``, restype && `\`restype=${restype}\``];
      const words = [method, level, ...query.filter((word) => word !== undefined)];
      return { operation, request: words.join(" ") };
    }),
  );
  return [...routed, ...OTHERS];
}

function reference(): string {
  const lines = rows().map(({ operation, request }) => {
    const isSupported = FILE_HANDLERS[operation] !== undefined;
    return `| ${operation} | ${request} | ${isSupported ? "yes" : "not yet"} |`;
  });
  return `# Operations of the File service

Operations on a share carry \`restype=share\`, those on a directory \`restype=directory\`. What is not
supported yet is refused with 501 \`NotImplemented\`, and the answer names the operation.

| operation | request | supported |
|---|---|---|
${lines.join("\n")}
`;
}
