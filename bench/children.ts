import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";

const STOP_MS_MAX = 10_000;

const running = new Set<ChildProcess>();

/** Starts a program that is ended with this process at the latest. */
export function startChild(command: string, args: string[], options: SpawnOptions): ChildProcess {
  const child = spawn(command, args, options);
  running.add(child);
  child.on("exit", () => running.delete(child));
  child.on("error", () => running.delete(child));
  return child;
}

export async function stopChild(child: ChildProcess): Promise<void> {
  if (!running.has(child)) return;
  const ended = once(child, "exit");
  child.kill("SIGTERM");
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_MS_MAX);
  await ended;
  clearTimeout(timer);
}

/** Kills all programs without waiting, when this process exits. */
export function killChildren(): void {
  for (const child of running) child.kill("SIGKILL");
}

/** Returns what a program prints on its standard output; throws if it fails. */
export async function outputOf(command: string, args: string[]): Promise<string> {
  const child = startChild(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let output = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    output += text;
  });
  const [code] = await once(child, "close");
  if (code !== 0) throw new Error(`${command} ended with code ${code}.\n${output}`);
  return output;
}
