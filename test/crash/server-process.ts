import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

const BIN = fileURLToPath(new URL("../../../bin/lazuli.cjs", import.meta.url));

/** The real program in a process of its own, to be killed. */
export interface ServerProcess {
  /** Of the account: `http://127.0.0.1:port/devstoreaccount1` */
  readonly url: string;
  /** `kill -9`, and the wait until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** `service` is the one whose URL is wanted: `Blob`, `Queue`, … */
export async function startProcess(
  location: string,
  flags: string[] = [],
  service = "Blob",
): Promise<ServerProcess> {
  const ports = ["--blobPort", "0", "--queuePort", "0", "--tablePort", "0"];
  const child = spawn(process.execPath, [BIN, "--location", location, ...ports, ...flags], {
    stdio: ["ignore", "pipe", "pipe"],
  });
  const origin = await readyOrigin(child, service);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode === null && child.signalCode === null) {
      child.kill(signal);
      await once(child, "exit");
    }
    return child.exitCode;
  };
  return {
    url: `${origin}/devstoreaccount1`,
    async kill() {
      await end("SIGKILL");
    },
    stop: () => end("SIGTERM"),
  };
}

function readyOrigin(child: ChildProcess, service: string): Promise<string> {
  const ready = new RegExp(`^${service} service .* (http://\\S+)$`, "m");
  return new Promise((resolve, reject) => {
    let out = "";
    let err = "";
    child.stdout?.on("data", (part) => {
      out += part;
      const origin = ready.exec(out)?.[1];
      if (origin !== undefined) resolve(origin);
    });
    child.stderr?.on("data", (part) => {
      err += part;
    });
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}: ${out}${err}`)));
  });
}
