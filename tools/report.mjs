import { relative } from "node:path";
import { inspect } from "node:util";

const DOTS_PER_LINE = 80;

/**
 * A reporter for `node --test`: a dot for each test, and a failure at once, so that an interrupted run has
 * told what failed. Then all skips, what failed tests printed, the names of those, and the count.
 */
// biome-ignore lint/style/noDefaultExport: node --test looks for the default export
export default async function* report(events) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  const failures = [];
  const skips = [];
  const printed = [];
  let dots = 0;
  for await (const { type, data } of events) {
    if (type === "test:stderr") printed.push(data.message);
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (type === "test:fail") {
      // A failure inside a suite is reported by itself; the suite only repeats it.
      if (data.details.error?.failureType === "subtestsFailed") continue;
      counts.failed++;
      failures.push(data);
      yield `F\n${describe(data)}`;
      dots = 0;
      continue;
    } else if (data.details.type === "suite") continue;
    else if (data.skip !== undefined) {
      counts.skipped++;
      skips.push(data);
    } else counts.passed++;
    yield data.skip === undefined ? "." : "s";
    if (++dots % DOTS_PER_LINE === 0) yield "\n";
  }
  yield "\n";
  for (const skip of skips) yield `skipped: ${skip.name}: ${skip.skip || "no reason given"}\n`;
  if (failures.length > 0) yield printed.join("");
  for (const failure of failures) yield `failed: ${placeOf(failure)}${failure.name}\n`;
  yield `${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`;
}

function describe(failure) {
  const { error } = failure.details;
  const told = [...causesOf(error?.cause ?? error)].map(tell);
  return `${placeOf(failure)}${failure.name}\n${told.join("\nCaused by: ")}\n`;
}

function placeOf({ file, line }) {
  return file === undefined ? "" : `${relative(process.cwd(), file)}:${line}: `;
}

/**
 * An error, what caused it, what caused that, and so on; all errors of one that stands for several. A failed
 * property of fast-check has the error as its cause, so `includeErrorInReport` would only print it twice.
 */
function causesOf(error, seen = new Set()) {
  if (error === undefined || error === null || seen.has(error)) return seen;
  seen.add(error);
  const below = Array.isArray(error.errors) ? error.errors : [];
  for (const cause of [...below, error.cause]) causesOf(cause, seen);
  return seen;
}

/** Between processes some errors lose what made them errors, but not their stacks. */
function tell(error) {
  return typeof error.stack === "string" ? error.stack : inspect(error);
}
