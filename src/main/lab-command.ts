import { type Checked, showVerdicts, writePicture } from "./check-command.ts";
import type { LabAsked } from "./lab-flags.ts";
import { StartError } from "./start-error.ts";

interface ShownClock {
  readonly now: string;
  readonly isFrozen: boolean;
  readonly aheadMs: number;
}

interface ShownClocks {
  readonly server: ShownClock;
  readonly accounts: Readonly<Record<string, ShownClock>>;
}

/**
 * Asks the lab of a running server, and prints what it answers. Returns the exit code. Throws a
 * `StartError`.
 */
export async function runLabCommand(
  asked: LabAsked,
  { out }: { out(line: string): void },
): Promise<number> {
  const answer = await askLab(asked);
  if (asked.command === "lab scene") return showScene(answer as Played, asked.svg, { out });
  out(linesOf(asked.command, answer));
  return 0;
}

type Played = { readonly title: string; readonly svg: string } & Checked;

function showScene(played: Played, svg: string | null, { out }: { out(line: string): void }) {
  out(played.title);
  if (svg !== null) writePicture(svg, played.svg);
  return showVerdicts(played, { out });
}

function linesOf(command: LabAsked["command"], answer: unknown): string {
  switch (command) {
    case "lab clock":
      return clockLines(answer as ShownClocks);
    case "lab rule":
      return `rule ${(answer as { id: number }).id}`;
    case "lab release":
      return `released: ${(answer as { released: number }).released}`;
    case "lab status":
    case "lab waiting":
      return JSON.stringify(answer, null, 2);
    case "lab record":
      return "format" in (answer as object) ? JSON.stringify(answer, null, 1) : "recording";
    default:
      return "done";
  }
}

async function askLab({ origin, method, path, body }: LabAsked): Promise<unknown> {
  let response: Response;
  try {
    const sent = body === null ? {} : { body: JSON.stringify(body) };
    response = await fetch(`${origin}${path}`, { method, ...sent });
  } catch {
    throw new StartError(
      `No lab answers at ${origin}. Start the server with --lab, or name the lab's port with --labPort.`,
    );
  }
  const found = (await response.json().catch(() => null)) as { error?: string } | null;
  if (found === null) throw new StartError(`${origin} is no lab: name its port with --labPort.`);
  if (!response.ok) throw new StartError(found.error ?? `The lab answered ${response.status}.`);
  return found;
}

function clockLines({ server, accounts }: ShownClocks): string {
  const lines = Object.entries(accounts).map(([name, clock]) => `${name}: ${clockLine(clock)}`);
  return [clockLine(server), ...lines].join("\n");
}

function clockLine({ now, isFrozen, aheadMs }: ShownClock): string {
  const seconds = Math.round(aheadMs / 1_000);
  const [far, way] = [Math.abs(seconds), seconds < 0 ? "behind" : "ahead"];
  const notes = [...(isFrozen ? ["frozen"] : []), ...(far === 0 ? [] : [`${far} s ${way}`])];
  return notes.length === 0 ? now : `${now} (${notes.join(", ")})`;
}
