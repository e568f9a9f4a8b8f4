import { ARGUMENTS, COMMANDS, type CommandName } from "./flags.ts";
import type { Program } from "./programs.ts";
import { UsageError } from "./start-error.ts";

/** A command, and the argument behind it. */
export interface CommandWords {
  readonly command: CommandName;
  /** The name of an account, a path, or a command for the lab; null if there is none. */
  readonly argument: string | null;
}

const NAMES = Object.keys(COMMANDS) as CommandName[];

/** Reads the words between the flags: `account add shop`. Throws a `UsageError`. */
export function readCommandWords(words: readonly string[], { name }: Program): CommandWords {
  if (words.length === 0) return { command: "start", argument: null };
  const command = commandOf(words);
  const usage = `\`${name} [command] [flags]\``;
  if (command === undefined) {
    const near = NAMES.filter((one) => one.startsWith(`${words[0]} `));
    const [said, choices] =
      near.length === 0 ? [words[0], NAMES] : [words.slice(0, 2).join(" "), near];
    throw new UsageError(
      `"${said}" is not a command. Use ${usage}; commands are ${choices.join(", ")}.`,
    );
  }
  const expected = ARGUMENTS[command];
  const behindIt = words.slice(command.split(" ").length);
  const isList = expected?.includes("…") === true && behindIt.length > 0;
  const [argument = null, surplus] = isList ? [behindIt.join(" ")] : behindIt;
  const behind = expected === undefined ? argument : surplus;
  if (behind !== undefined && behind !== null) {
    throw new UsageError(`"${behind}" comes behind the command "${command}". Use ${usage}.`);
  }
  if (expected?.startsWith("<") && argument === null) {
    const what = expected.slice(1, -1);
    throw new UsageError(`\`${name} ${command}\` needs a ${what}: ${name} ${command} ${expected}.`);
  }
  return { command, argument };
}

/** The commands whose page `--help` shows: all that begin with these words; null for the whole. */
export function helpTopic(words: readonly string[]): string | null {
  const topic = commandOf(words) ?? words[0] ?? "start";
  const isKnown = NAMES.some((one) => one === topic || one.startsWith(`${topic} `));
  return topic !== "start" && isKnown ? topic : null;
}

function commandOf(words: readonly string[]): CommandName | undefined {
  const said = words.join(" ");
  return NAMES.find((one) => said === one || said.startsWith(`${one} `));
}
