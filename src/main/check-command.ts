import { writeFileSync } from "node:fs";
import { checkHistory, describeOperation, type ObjectVerdict } from "../check/check-history.ts";
import { HistoryError, type HistoryFile, readHistory } from "../check/history-file.ts";
import { drawSwimLanes } from "../check/swim-lanes.ts";
import { readFile } from "./read-file.ts";
import { StartError } from "./start-error.ts";

/** A history and what the checker says about it. */
export interface Checked {
  readonly history: HistoryFile;
  readonly verdicts: readonly ObjectVerdict[];
}

interface Output {
  out(line: string): void;
}

/** The exit code if no order explains the history; that of `verify` for damage. */
const WRONG = 3;

/** Checks a file. Returns the exit code. Throws a `StartError` if it is no history. */
export function checkFile(file: string, svg: string | null, output: Output): number {
  const text = readFile(file).toString("utf8");
  let history: HistoryFile;
  try {
    history = readHistory(text);
  } catch (error) {
    if (!(error instanceof HistoryError)) throw error;
    throw new StartError(`${file} is no history: ${error.message}.`);
  }
  const verdicts = checkHistory(history);
  if (svg !== null) writePicture(svg, drawSwimLanes(file, history.operations, verdicts));
  return showVerdicts({ history, verdicts }, output);
}

/** Prints the order that was found for each object, or why there is none. */
export function showVerdicts({ history, verdicts }: Checked, { out }: Output): number {
  for (const { kind, object, order, why } of verdicts) {
    out(`${kind} ${object}: ${why ?? `${order.length} operations, in an order that explains all`}`);
    for (const [at, one] of order.entries()) {
      out(`  ${at + 1}. ${one.client}: ${describeOperation(one)}`);
    }
  }
  const skipped = Object.entries(history.skipped ?? {});
  if (skipped.length > 0) {
    const all = skipped.map(([operation, count]) => `${operation} (${count})`).join(", ");
    out(`Not checked: ${all}`);
  }
  const wrong = verdicts.filter(({ verdict }) => verdict !== "explained").length;
  out(
    wrong === 0
      ? `All answers about ${verdicts.length} objects can be explained`
      : `The answers about ${wrong} of ${verdicts.length} objects cannot be explained`,
  );
  return wrong === 0 ? 0 : WRONG;
}

/** Writes an image. Throws a `StartError`. */
export function writePicture(file: string, svg: string): void {
  try {
    writeFileSync(file, svg);
  } catch (error) {
    throw new StartError(
      `${file} cannot be written (${(error as Error).message}). Check the path.`,
    );
  }
}
