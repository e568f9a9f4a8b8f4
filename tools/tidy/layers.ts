import { posix } from "node:path";
import { type Finding, isTest, type SourceFile } from "./finding.ts";
import { type Import, importsOf } from "./imports.ts";

/** Arrows point down. What is not named here may not be imported. */
const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = {
  base: ["base"],
  machine: ["base", "machine"],
  rules: ["base", "rules"],
  store: ["base", "store"],
  content: ["base", "machine", "store", "content"],
  cluster: ["base", "store", "cluster"],
  engine: ["base", "machine", "store", "engine"],
  service: ["base", "machine", "rules", "store", "content", "service"],
  front: ["base", "machine", "rules", "store", "service", "front"],
  check: ["base", "check"],
  lab: ["base", "store", "front", "check", "lab"],
  transfer: ["base", "machine", "front", "transfer"],
  main: [
    ...["base", "machine", "rules", "store", "content", "cluster"],
    ...["engine", "service", "front", "check", "lab", "transfer", "main"],
  ],
};

/** A front end speaks the words of these layers (types, constants, errors) and calls none of them. */
const WORDS_ONLY = ["rules", "store"];

/** Units of these layers (`service/blob`, `front/smb`) know nothing of each other. */
const APART = ["engine", "service", "front"];

/** What the units of a layer share. Every unit may import it; it imports none of them. */
const SHARED = "shared";

/** The packages that the server needs to run, and the one place that may use each. */
const PACKAGES: Readonly<Record<string, string>> = {
  jose: "src/front/rest/auth/",
  aws4fetch: "src/engine/s3/",
  lmdb: "src/engine/embedded/",
  pg: "src/engine/postgres/",
};

/** Tests of every layer but `base` run on an engine with contents. */
const TEST_BED = ["machine", "store", "content", "engine"];

/** Who may import what: the map of docs/ARCHITECTURE.md, as a rule. */
export function checkLayers(file: SourceFile): Finding[] {
  if (!/^(src|examples)\/.*\.ts$/.test(file.path)) return [];
  return importsOf(file.text).flatMap((found) => {
    const message = found.from.startsWith(".")
      ? refuseFile(file.path, found)
      : refusePackage(file.path, found.from);
    return message === null ? [] : [{ path: file.path, line: found.line, rule: "layer", message }];
  });
}

function refuseFile(path: string, { what, from }: Import): string | null {
  const target = posix.join(posix.dirname(path), from);
  if (path.startsWith("examples/")) {
    return target.startsWith("examples/") ? null : "an example uses only what a user has";
  }
  if (!target.startsWith("src/")) {
    return isTest(path) ? null : `${target} is outside src`;
  }
  const [layer = "", unit = ""] = unitOf(path);
  const [targetLayer = "", targetUnit = ""] = unitOf(target);
  if (!mayImport(layer, targetLayer, isTest(path))) {
    return `${layer} may not import ${targetLayer}`;
  }
  if (layer === targetLayer && !mayMeet(layer, unit, targetUnit)) {
    return `${layer}/${unit} may not import ${layer}/${targetUnit}`;
  }
  if (layer === "front" && WORDS_ONLY.includes(targetLayer) && !isTest(path)) {
    const called = callablesIn(what);
    if (called.length > 0) return `front may not call ${targetLayer}: ${called.join(", ")}`;
  }
  return null;
}

function mayMeet(layer: string, unit: string, target: string): boolean {
  return !APART.includes(layer) || unit === target || target === "" || target === SHARED;
}

function mayImport(layer: string, target: string, byTest: boolean): boolean {
  if (byTest && layer !== "base" && TEST_BED.includes(target)) return true;
  return MAY_IMPORT[layer]?.includes(target) ?? false;
}

/** `["service", "blob"]`; the unit of a file that stands directly in its layer is "". */
function unitOf(path: string): string[] {
  const [, layer = "", ...rest] = path.split("/");
  return [layer, rest.length > 1 ? (rest[0] ?? "") : ""];
}

/** Of `{ a, type B, C, D_E }` only `a`: functions begin with a small letter, words do not. */
function callablesIn(what: string): string[] {
  if (/^type\s/.test(what)) return [];
  const names = /\{([^}]*)\}/.exec(what)?.[1] ?? what;
  return names
    .split(",")
    .map((name) => name.trim())
    .filter((name) => /^[a-z*]/.test(name) && !name.startsWith("type "));
}

function refusePackage(path: string, name: string): string | null {
  if (isTest(path) || path.startsWith("examples/")) return null;
  if (name.startsWith("node:")) {
    return path.startsWith("src/rules/") ? "rules are pure: they may not use node:" : null;
  }
  const place = PACKAGES[name];
  if (place === undefined) return `${name} is not a package that the server depends on`;
  return path.startsWith(place) ? null : `only ${place} may use ${name}`;
}
