import { LazuliProcess } from "../command/process.ts";
import type { AccountUrls } from "./fill-account.ts";

const ANY_PORTS = ["blob", "queue", "table", "file", "dfs", "smb"].flatMap((service) => [
  `--${service}Port`,
  "0",
]);

export interface ServedUrls extends AccountUrls {
  readonly file: string;
  readonly dfs: string;
}

/** Runs a server on a folder meanwhile. */
export async function withServer<T>(
  location: string,
  body: (urls: ServedUrls) => Promise<T>,
  flags: readonly string[] = [],
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const server = new LazuliProcess(["--location", location, ...ANY_PORTS, ...flags], env);
  try {
    const [blob, queue, table, file, dfs] = [
      await server.urlOf("Blob"),
      await server.urlOf("Queue"),
      await server.urlOf("Table"),
      await server.urlOf("File"),
      await server.urlOf("DFS"),
    ];
    return await body({ blob, queue, table, file, dfs });
  } finally {
    server.signal("SIGTERM");
    await server.ended();
  }
}
