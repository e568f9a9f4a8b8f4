import assert from "node:assert/strict";
import type { FieldsSince } from "../../src/front/rest/field-versions.ts";
import { parseXml, type XmlElement } from "../../src/front/rest/xml/parse-xml.ts";
import type { RawAnswer, RawAsked } from "../sdk/raw-request.ts";

/** Requests of each operation whose responses together have all of its fields. */
export type Samples = Readonly<Record<string, readonly RawAsked[]>>;

/** The samples for a table row that applies to "all" operations. */
const ALL = "all";

/**
 * Checks a table against a server: each field must be sent in its first version, and be absent the
 * day before.
 */
export async function checkFields(
  rows: readonly FieldsSince<string>[],
  samples: Samples,
  ask: (asked: RawAsked) => Promise<RawAnswer>,
): Promise<void> {
  const known = new Map<string, Promise<ReadonlySet<string>>>();
  const fieldsAt = (operation: string, version: string) => {
    const key = `${operation} ${version}`;
    const found = known.get(key) ?? fieldsOf(samples[operation] ?? [], version, ask);
    known.set(key, found);
    return found;
  };
  for (const { since, of, headers = [], elements = [] } of rows) {
    for (const operation of of === ALL ? [ALL] : of) {
      const present = await fieldsAt(operation, since);
      const absent = await fieldsAt(operation, dayBefore(since));
      for (const field of [...headers.map((name) => name.toLowerCase()), ...elements]) {
        assert.ok(present.has(field), `${operation} answers with ${field} in ${since}`);
        assert.ok(!absent.has(field), `${operation} answers with ${field} before ${since}`);
      }
    }
  }
}

async function fieldsOf(
  samples: readonly RawAsked[],
  version: string,
  ask: (asked: RawAsked) => Promise<RawAnswer>,
): Promise<ReadonlySet<string>> {
  const fields = new Set<string>();
  for (const sample of samples) {
    const answer = await ask({ ...sample, version });
    const { method = "GET", path } = sample;
    assert.ok(answer.status < 300, `${method} ${path} ${version}: ${answer.status} ${answer.text}`);
    for (const [name] of answer.headers) fields.add(name);
    if (answer.headers.get("content-type") === "application/xml") {
      addPaths(fields, parseXml(Buffer.from(answer.text)), []);
    }
  }
  return fields;
}

/** Adds the path of an element relative to each of its ancestors. */
function addPaths(fields: Set<string>, { name, children }: XmlElement, above: string[]): void {
  const path = [...above, name];
  for (let from = 0; from < path.length; from++) fields.add(path.slice(from).join("/"));
  for (const child of children) addPaths(fields, child, path);
}

function dayBefore(version: string): string {
  return new Date(Date.parse(version) - 86_400_000).toISOString().slice(0, 10);
}
