import { resolve } from "node:path";
import { parseArgs } from "node:util";

export const HELP = `npm run bench -- [options]

  --only <text>     Only the rows whose name contains the text.
  --seconds <n>     How long each load lasts, all its slots together (default 5).
  --cold            Other rows: the first requests of a new process, without a warm-up.
  --long            Also the rows that take minutes and gigabytes of disk.
  --write           Write the result and its picture to docs/reference/ (all rows only).
  --chart           Measure nothing: draw the picture from the page's table.
  --json            Print the result as JSON instead of tables.
  --with-azurite    Install Azurite in .scratch/azurite if it is not there, to compare with it.
  --profile <dir>   Write CPU profiles of our server there; the figures suffer from it.
  --help            Print this page.
`;

const SECONDS_DEFAULT = "5";

export interface Options {
  readonly only: string;
  readonly seconds: number;
  readonly cold: boolean;
  readonly long: boolean;
  readonly write: boolean;
  readonly chart: boolean;
  readonly json: boolean;
  readonly withAzurite: boolean;
  readonly profile: string | null;
  readonly help: boolean;
}

export function readOptions(args: string[]): Options {
  const { values } = parseArgs({
    args,
    options: {
      only: { type: "string", default: "" },
      seconds: { type: "string", default: SECONDS_DEFAULT },
      cold: { type: "boolean", default: false },
      long: { type: "boolean", default: false },
      write: { type: "boolean", default: false },
      chart: { type: "boolean", default: false },
      json: { type: "boolean", default: false },
      "with-azurite": { type: "boolean", default: false },
      profile: { type: "string" },
      help: { type: "boolean", default: false },
    },
  });
  const seconds = Number(values.seconds);
  if (!Number.isInteger(seconds) || seconds < 1) {
    throw new Error(`--seconds wants a whole number from 1 on, not ${values.seconds}.`);
  }
  if (values.write && (values.only !== "" || values.cold)) {
    throw new Error("--write wants all rows, and warm ones: the page shows one run.");
  }
  return {
    only: values.only.toLowerCase(),
    seconds,
    cold: values.cold,
    long: values.long,
    write: values.write,
    chart: values.chart,
    json: values.json,
    withAzurite: values["with-azurite"],
    profile: values.profile === undefined ? null : resolve(values.profile),
    help: values.help,
  };
}
