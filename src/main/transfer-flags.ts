import { EXISTING, type Existing } from "../transfer/existing.ts";
import type { Into } from "../transfer/files/tree-source.ts";
import type { GivenFlags } from "./account-flags.ts";
import { UsageError } from "./start-error.ts";

/** What `lazuli import` or `lazuli export` is asked to do. */
export interface TransferAsked {
  readonly command: "import" | "export";
  /** The source of an import, or the target of an export. */
  readonly place: string;
  /** A connection string, `-` for standard input, or null for the data folder. */
  readonly server: string | null;
  readonly location: string;
  readonly configFile: string | null;
  /** The value of AZURITE_ACCOUNTS. */
  readonly accountList: string | null;
  readonly account: string | null;
  readonly only: string | null;
  readonly into: Into | null;
  readonly existing: Existing;
  readonly parallel: number;
  readonly json: boolean;
}

interface TransferFlags extends GivenFlags {
  number(name: string, what: string, from: number, to?: number): number | null;
}

const PARALLEL = 16;
const PARALLEL_MAX = 256;

/** Reads the flags of `lazuli import` and `lazuli export`. Throws a `UsageError`. */
export function readTransfer(
  command: TransferAsked["command"],
  place: string,
  given: TransferFlags,
  from: Pick<TransferAsked, "location" | "accountList">,
): TransferAsked {
  const server = given.text("server");
  if (server === "-" && place === "-") {
    throw new UsageError("Standard input has one of the two: the source, or --server.");
  }
  const existing = given.text("existing") ?? "fail";
  const choice = EXISTING.find((one) => one === existing);
  if (choice === undefined) {
    throw new UsageError(`--existing is ${EXISTING.join(", ")}; not "${existing}".`);
  }
  const parallel = given.number("parallel", "a number of objects", 1, PARALLEL_MAX) ?? PARALLEL;
  return {
    command,
    place,
    server,
    ...from,
    configFile: given.text("config"),
    account: given.text("account"),
    only: given.text("only"),
    into: readInto(given.text("into")),
    existing: choice,
    parallel,
    json: given.has("json"),
  };
}

function readInto(text: string | null): Into | null {
  if (text === null) return null;
  const [, service, name = "", path = ""] = /^(blob|file):([^/]+)(?:\/(.*))?$/s.exec(text) ?? [];
  if (service === undefined) {
    throw new UsageError(
      `--into is blob:container/prefix or file:share/folder, not "${text}". The path is optional.`,
    );
  }
  return { service: service as Into["service"], name, path: path.replace(/^\/+|\/+$/g, "") };
}
