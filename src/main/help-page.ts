import { COMMANDS, FLAG_GROUPS, type Flag } from "./flags.ts";
import { PROGRAMS, type Program } from "./programs.ts";

const COLUMN = 34;

/** The output of `--help`: the flags of the services that the program starts. */
export function helpPage({ name, services }: Program = PROGRAMS.lazuli): string {
  const isTaken = ({ service }: Flag) => service === undefined || services.includes(service);
  const groups = FLAG_GROUPS.map(
    ({ title, flags }) => `${title}:\n${flags.filter(isTaken).map(flagLine).join("\n")}\n`,
  );
  return [
    "Lazuli serves the Azure Storage protocols from this machine.\n",
    `Usage: ${name} [command] [flags]\n`,
    `Commands:\n${Object.entries(COMMANDS).map(commandLine).join("\n")}\n`,
    ...groups,
    `Environment:
  AZURITE_ACCOUNTS                Accounts and keys: name:key1[:key2];name2:key1
                                  (default: devstoreaccount1 with its well-known key)

A first connection string, for a program on this machine:
  UseDevelopmentStorage=true
`,
  ].join("\n");
}

function commandLine([name, help]: [string, string]): string {
  return `  ${name}`.padEnd(COLUMN) + help;
}

function flagLine(flag: Flag): string {
  const short = flag.short === undefined ? "    " : `-${flag.short}, `;
  const value = flag.value === null ? "" : ` <${flag.value}>`;
  const left = `  ${short}--${flag.name}${value}`;
  // The text of a flag that is wider than the column goes to the next line.
  const gap =
    left.length + 2 > COLUMN ? `\n${" ".repeat(COLUMN)}` : " ".repeat(COLUMN - left.length);
  const others = (flag.commands ?? []).filter((name) => name !== "start");
  const also = others.length === 0 ? "" : ` Also: ${others.join(", ")}.`;
  return `${left}${gap}${flag.help}${also}`;
}
