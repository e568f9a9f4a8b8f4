import { ARGUMENTS, COMMANDS, type CommandName, FLAG_GROUPS, FLAGS, type Flag } from "./flags.ts";
import { PROGRAMS, type Program } from "./programs.ts";

const COLUMN = 34;
/** Fits most terminals. */
const LINE_CHARS_MAX = 100;
/** A flag of more commands does not name them: the line would be too long. */
const NAMED_COMMANDS_MAX = 3;

/** The output of `--help`: the flags of the services that the program starts. */
export function helpPage({ name, services }: Program = PROGRAMS.lazuli): string {
  const isTaken = ({ service }: Flag) => service === undefined || services.includes(service);
  const groups = FLAG_GROUPS.map(
    ({ title, flags }) => `${title}:\n${flags.filter(isTaken).map(flagLine).join("\n")}\n`,
  );
  return [
    "Lazuli serves the Azure Storage protocols from this machine.\n",
    `Usage: ${name} [command] [flags]\n`,
    `Commands:\n${COMMAND_NAMES.map(commandLine).join("\n")}\n`,
    ...groups,
    `Environment:
  AZURITE_ACCOUNTS                Accounts and keys: name:key1[:key2];name2:key1
                                  (default: devstoreaccount1 with its well-known key)
${FLAGS.filter(({ env }) => env !== undefined)
  .map(variableLine)
  .join("\n")}

A first connection string, for a program on this machine:
  UseDevelopmentStorage=true
`,
  ].join("\n");
}

/** The output of `--help` behind a command, or behind the first word of several. */
export function commandPage(topic: string, { name }: Program = PROGRAMS.lazuli): string {
  const commands = COMMAND_NAMES.filter((one) => one === topic || one.startsWith(`${topic} `));
  const flags = FLAG_GROUPS.flatMap((group) => group.flags).filter(({ commands: taken = [] }) =>
    commands.some((one) => taken.includes(one)),
  );
  const usages = commands.map((one) => `  ${name} ${withArgument(one)} [flags]`);
  const exitCodes = commands.some((one) => TRANSFERS.includes(one)) ? [EXIT_CODES] : [];
  return [
    `Usage:\n${usages.join("\n")}\n`,
    `${commands.map(commandLine).join("\n")}\n`,
    `Flags:\n${flags.map((flag) => flagLine({ ...flag, commands: [] })).join("\n")}\n`,
    ...exitCodes,
  ].join("\n");
}

const TRANSFERS: readonly CommandName[] = ["import", "export"];
const EXIT_CODES = `Exit codes:
  0                               Everything was moved, or was there already.
  1                               Nothing could be moved; the message says why.
  2                               Wrong usage.
  3                               Some objects failed; each has a line on standard error.
  130                             Stopped by Ctrl-C or SIGTERM.
`;

const COMMAND_NAMES = Object.keys(COMMANDS) as CommandName[];

function withArgument(command: CommandName): string {
  const argument = ARGUMENTS[command];
  return argument === undefined ? command : `${command} ${argument}`;
}

function commandLine(name: CommandName): string {
  return line(withArgument(name), COMMANDS[name]);
}

function variableLine({ name, env = "" }: Flag): string {
  return line(env, `The default of --${name}.`);
}

function line(left: string, right: string): string {
  return `  ${left}`.padEnd(COLUMN) + right;
}

function flagLine(flag: Flag): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  const value = flag.value === null ? "" : ` <${flag.value}>`;
  const left = `  ${short}--${flag.name}${value}`;
  // The text of a flag that is wider than the column goes to the next line.
  const gap =
    left.length + 2 > COLUMN ? `\n${" ".repeat(COLUMN)}` : " ".repeat(COLUMN - left.length);
  const also = alsoOf(flag);
  const isLong = COLUMN + flag.help.length + also.length > LINE_CHARS_MAX;
  return `${left}${gap}${flag.help}${isLong ? `\n${" ".repeat(COLUMN - 1)}` : ""}${also}`;
}

/** Other commands that take a flag of `start`, by their first word. */
function alsoOf({ commands = [] }: Flag): string {
  if (commands.length === COMMAND_NAMES.length) return " All commands.";
  if (!commands.includes("start")) return "";
  const others = commands.filter((name) => name !== "start").map((name) => name.split(" ")[0]);
  const words = [...new Set(others)];
  if (words.length > NAMED_COMMANDS_MAX) return " Most commands.";
  return words.length === 0 ? "" : ` Also: ${words.join(", ")}.`;
}
