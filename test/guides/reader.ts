import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { delimiter, join } from "node:path";
import { fileURLToPath } from "node:url";
import { findAzurite } from "../../bench/azurite.ts";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import type { Block } from "./blocks.ts";

const ROOT = fileURLToPath(new URL("../../../", import.meta.url));
const azurite = findAzurite(join(ROOT, ".scratch/azurite"));
const SERVICES = ["Blob", "Queue", "Table", "File", "DFS", "SMB"];
const METRICS_PORT = "9464";
const LAB_PORT = "10006";
/**
 * The documented ports of the services, in the order of `SERVICES`, and of the metrics: of the
 * server, and of the one beside it.
 */
const PORTS = ["10000", "10001", "10002", "10003", "10004", "10445", METRICS_PORT, LAB_PORT];
const PORTS_BESIDE = ["11000", "11001", "11002", "11003", "11004", "11445", "10464", "11006"];
/** The documented port of a proxy. */
const PROXY_PORT = "8443";
const READY = /^(?:Console:|Azurite Table service is successfully listening).*\n/m;
/** Its port is any if another server runs on this machine, and its token is new each time. */
const CONSOLE = /^Console: http:\/\/127\.0\.0\.1:\d+\/#token=\S+$/m;
const DOCUMENTED_CONSOLE = "Console: http://127.0.0.1:10005/#token=…";
/** The last line of a server that a page starts with these services only. */
const READY_SOME = /^Queue service is successfully listening.*\n/m;
const SOME_SERVICES = "--services blob,queue";
const METRICS_READY = /^Metrics are at .*:(\d+)\/metrics\n/m;
const LAB_READY = /^The lab is at .*:(\d+)\n/m;

/**
 * Follows a page like a reader, in its own folder. Two things differ from the page: the commands of
 * the package, and npm and npx for them, are those of this clone; and servers use free ports, which
 * replace the documented ones, a proxy's as well. If `npm run bench -- --with-azurite` has not installed Azurite, this
 * clone's `azurite` replaces it.
 */
export class Reader {
  readonly folder = mkdtempSync(join(tmpdir(), "lazuli-guide-"));
  readonly #env: Readonly<Record<string, string>>;
  /** In the place of `PROXY_PORT`. */
  readonly proxyPort: number;
  #server: Server | null = null;
  #beside: Server | null = null;

  constructor(proxyPort: number) {
    this.proxyPort = proxyPort;
    const commands = join(this.folder, ".commands");
    mkdirSync(commands);
    for (const [name, script] of Object.entries(COMMANDS)) {
      writeFileSync(join(commands, name), script);
      chmodSync(join(commands, name), 0o755);
    }
    const modules = join(this.folder, "node_modules");
    mkdirSync(modules);
    for (const name of readdirSync(join(ROOT, "node_modules"))) {
      if (!name.startsWith(".")) symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
    }
    symlinkSync(ROOT, join(modules, "lazuli"));
    const path = `${commands}${delimiter}${process.env.PATH}`;
    this.#env = {
      PATH: path,
      HOME: this.folder,
      LAZULI: join(ROOT, "bin"),
      NODE: process.execPath,
      AZURITE_NODE: azurite?.node ?? process.execPath,
      AZURITE: azurite?.script ?? join(ROOT, "bin/azurite.cjs"),
    };
  }

  async close(): Promise<void> {
    await this.#server?.stop();
    await this.#beside?.stop();
    this.#endBackground();
    rmSync(this.folder, { recursive: true });
  }

  /** Ends a proxy that a failed page has left running. */
  #endBackground(): void {
    const file = join(this.folder, "nginx.pid");
    if (existsSync(file)) process.kill(Number(readFileSync(file, "utf8")));
  }

  async follow({ language, text, action }: Block): Promise<void> {
    switch (action.kind) {
      case "serve":
        return await this.#serve(text, action.isBeside);
      case "save":
        return writeFileSync(join(this.folder, action.name), this.#asItIs(text));
      case "printed":
        return this.#look(text);
      case "run":
        return await this.#run(language, this.#asItIs(text), action.fails);
    }
  }

  async #serve(text: string, isBeside: boolean): Promise<void> {
    const start = () => Server.start(text, this.folder, this.#env);
    if (isBeside) {
      this.#beside = await start();
      return;
    }
    const before = this.#server;
    this.#server = null;
    await before?.stop();
    this.#server = await start();
  }

  async #run(language: string, text: string, fails: string | null): Promise<void> {
    const file = join(this.folder, language === "js" ? ".block.mjs" : ".block.sh");
    writeFileSync(file, text);
    const [program, ...flags] = language === "js" ? [process.execPath] : ["sh", "-e"];
    const child = spawn(program ?? "", [...flags, file], {
      cwd: this.folder,
      env: { ...this.#env, LAZULI_LAB_PORT: actual(LAB_PORT, this.#server, PORTS) },
      stdio: ["ignore", "pipe", "pipe"],
    });
    let printed = "";
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (part: string) => {
        printed += part;
      });
    }
    const [code] = await once(child, "close");
    if (fails === null) assert.equal(code, 0, printed);
    else
      assert.ok(
        code !== 0 && printed.includes(fails),
        `it does not fail with ${fails}: ${printed}`,
      );
  }

  #look(text: string): void {
    const printed = (this.#server?.printed ?? "")
      .replaceAll(this.folder, "/srv")
      .replace(CONSOLE, DOCUMENTED_CONSOLE);
    assert.equal(documented(printed, this.#server, PORTS).trim(), text.trim());
  }

  /** Connection strings for the server and for the one beside it. */
  get connections(): { readonly server: string; readonly beside: string } {
    const server = actual(CONNECTION, this.#server, PORTS);
    return { server, beside: actual(CONNECTION, this.#beside, PORTS) };
  }

  /** Replaces the documented ports in a text by the actual ones. */
  #asItIs(text: string): string {
    const connection = text
      .replaceAll("UseDevelopmentStorage=true", CONNECTION)
      .replaceAll(PROXY_PORT, `${this.proxyPort}`);
    return actual(actual(connection, this.#server, PORTS), this.#beside, PORTS_BESIDE);
  }
}

/** What `UseDevelopmentStorage=true` means in an SDK. */
const CONNECTION = [
  `DefaultEndpointsProtocol=http;AccountName=${ACCOUNT};AccountKey=${KEY}`,
  ...["Blob", "Queue", "Table"].map(
    (service, at) => `${service}Endpoint=http://127.0.0.1:${PORTS[at]}/${ACCOUNT}`,
  ),
].join(";");

const ANY_PORTS = "--blobPort 0 --queuePort 0 --tablePort 0";

/** Scripts that run the commands of the package, npm and npx from this clone, by name. */
const COMMANDS = {
  lazuli: `#!/bin/sh
case "$* " in
  account* | export* | import* | reload* | health* | verify* | usage* | holders* | backup* | restore* | seed* | \
    lab* | check*) ;;
  *"${SOME_SERVICES}"*) set -- "$@" --blobPort 0 --queuePort 0 ;;
  *) set -- "$@" ${ANY_PORTS} --filePort 0 --dfsPort 0 --smbPort 0 ;;
esac
exec "$NODE" "$LAZULI/lazuli.cjs" "$@"
`,
  azurite: `#!/bin/sh\nexec "$NODE" "$LAZULI/azurite.cjs" "$@" ${ANY_PORTS}\n`,
  npm: '#!/bin/sh\n[ "$1" = start ] || exit 1\nshift\n[ "$1" != -- ] || shift\nexec lazuli "$@"\n',
  npx: `#!/bin/sh
if [ "$1" = azurite@3 ]; then
  shift
  exec "$AZURITE_NODE" "$AZURITE" "$@" ${ANY_PORTS}
fi
[ "$1" != -p ] || shift 2
exec "$@"
`,
};

/** A server started by a block of a page. */
class Server {
  readonly #child: ChildProcess;
  readonly printed: string;
  /** In the order of `PORTS`; undefined for a service that it does not have. */
  readonly ports: readonly (string | undefined)[];

  private constructor(child: ChildProcess, printed: string) {
    this.#child = child;
    this.printed = printed;
    const ready = SERVICES.map(
      (service) => new RegExp(`^(?:Azurite )?${service} service is successfully .*:(\\d+)$`, "m"),
    );
    this.ports = [...ready, METRICS_READY, LAB_READY].map((line) => line.exec(printed)?.[1]);
  }

  static async start(
    text: string,
    cwd: string,
    env: Readonly<Record<string, string>>,
  ): Promise<Server> {
    // The shell may have children, so all run in one process group.
    const stdio = ["ignore", "pipe", "pipe"] as const;
    const started = text
      .replaceAll(`--metricsPort ${METRICS_PORT}`, "--metricsPort 0")
      .replaceAll("--lab", "--lab --labPort 0");
    const child = spawn("sh", ["-ec", started], { cwd, env, stdio: [...stdio], detached: true });
    let printed = "";
    let errors = "";
    child.stderr?.setEncoding("utf8").on("data", (part: string) => {
      errors += part;
    });
    const ready = readyLinesOf(text);
    return await new Promise((resolve, reject) => {
      child.on("close", () => reject(new Error(`It did not serve: ${printed}${errors}`)));
      child.stdout?.setEncoding("utf8").on("data", (part: string) => {
        printed += part;
        if (ready.every((line) => line.test(printed))) resolve(new Server(child, printed));
      });
    });
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.pid === undefined) return;
    const closed = once(this.#child, "close");
    process.kill(-this.#child.pid, "SIGTERM");
    await closed;
  }
}

function actual(text: string, server: Server | null, ports: readonly string[]): string {
  return ports.reduce((so, port, at) => so.replaceAll(port, server?.ports[at] ?? port), text);
}

/**
 * Replaces the actual ports in a text by the documented ones. Azurite also prints the port that it
 * was started with.
 */
function documented(text: string, server: Server | null, ports: readonly string[]): string {
  const asked = text.replaceAll(/ (\w+) service is starting at (\S+):0$/gm, (_, service, host) => {
    return ` ${service} service is starting at ${host}:${ports[SERVICES.indexOf(service)]}`;
  });
  return ports.reduce((so, port, at) => {
    const taken = server?.ports[at];
    return taken === undefined ? so : so.replaceAll(`:${taken}`, `:${port}`);
  }, asked);
}

/** What the server of this command has printed once it is ready. Parts of it arrive one by one. */
function readyLinesOf(command: string): RegExp[] {
  const lines = [command.includes(SOME_SERVICES) ? READY_SOME : READY];
  if (command.includes("--metricsPort")) lines.push(METRICS_READY);
  if (command.includes("--lab")) lines.push(LAB_READY);
  return lines;
}
