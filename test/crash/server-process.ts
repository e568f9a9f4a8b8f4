import { LazuliProcess } from "../command/process.ts";

/** The real program in a process of its own, to be killed. */
export interface ServerProcess {
  /** Of the account: `http://127.0.0.1:port/devstoreaccount1` */
  readonly url: string;
  /** `kill -9`, and the wait until it is gone. */
  kill(): Promise<void>;
  /** SIGTERM; resolves with the exit code. */
  stop(): Promise<number | null>;
}

/** `service` is the one whose URL is wanted. */
export async function startProcess(
  location: string,
  flags: string[] = [],
  service: "Blob" | "File" | "Queue" | "Table" = "Blob",
): Promise<ServerProcess> {
  const ports = [
    "--blobPort",
    "0",
    "--queuePort",
    "0",
    "--tablePort",
    "0",
    "--filePort",
    "0",
    "--smbPort",
    "0",
  ];
  const lazuli = new LazuliProcess(["--location", location, ...ports, ...flags]);
  return {
    url: await lazuli.urlOf(service),
    kill: () => lazuli.kill(),
    async stop() {
      lazuli.signal("SIGTERM");
      return (await lazuli.ended()).code;
    },
  };
}
