import { ANY_PORTS } from "../../src/main/any-ports.fixture.ts";
import { LazuliProcess } from "../command/process.ts";

const SERVICES = ["Blob", "DFS", "File", "Queue", "Table"] as const;
type Service = (typeof SERVICES)[number];

/** The real program in its own process, to be killed. */
export interface ServerProcess {
  /** URL of the account: `http://127.0.0.1:port/devstoreaccount1` */
  readonly url: string;
  /** Sends `kill -9`, and waits until the process is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** A server process with all its ports. */
export interface WholeServerProcess extends ServerProcess {
  readonly urls: Readonly<Record<Service, string>>;
  readonly smbPort: number;
}

/** `service` is the one whose URL is returned. */
export async function startProcess(
  location: string,
  flags: string[] = [],
  service: Service = "Blob",
): Promise<ServerProcess> {
  const lazuli = spawnServer(location, flags);
  return { url: await lazuli.urlOf(service), ...endings(lazuli) };
}

/** Rejects with the server's output if it does not start. */
export async function startWholeProcess(location: string): Promise<WholeServerProcess> {
  const lazuli = spawnServer(location, []);
  const urls: Partial<Record<Service, string>> = {};
  for (const service of SERVICES) urls[service] = await lazuli.urlOf(service);
  const smbPort = Number(await lazuli.printed(/^SMB service .* smb:\/\/[^/]*:(\d+)/m));
  const whole = urls as Record<Service, string>;
  return { url: whole.Blob, urls: whole, smbPort, ...endings(lazuli) };
}

function spawnServer(location: string, flags: readonly string[]): LazuliProcess {
  return new LazuliProcess(["--location", location, ...ANY_PORTS, ...flags]);
}

function endings(lazuli: LazuliProcess): Pick<ServerProcess, "kill" | "stop"> {
  return {
    kill: () => lazuli.kill(),
    async stop() {
      lazuli.signal("SIGTERM");
      return (await lazuli.ended()).code;
    },
  };
}
