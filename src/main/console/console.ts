import type { ApiCalls } from "../../front/console/api-calls.ts";
import {
  type ConsoleListener,
  type ConsoleOptions,
  openConsoleListener,
} from "../../front/console/console-listener.ts";
import { PageFiles } from "../../front/console/page-files.ts";
import { DEFAULT_LIMITS } from "../../front/rest/http/limits.ts";
import { tlsSettings } from "../../front/rest/http/tls-settings.ts";
import { listenError } from "../listen-error.ts";
import { isLoopback } from "../network-guard.ts";
import type { Settings } from "../settings.ts";
import type { ConsoleAt } from "../side-addresses.ts";
import { pageFolder } from "./page-folder.ts";

type ConsoleSetup = Pick<ConsoleOptions, "clock" | "outcomes" | "facts" | "onError"> & {
  readonly calls: ApiCalls;
};

/** The web console of a server. */
export class Console {
  /** With the token that signs in once. */
  readonly address: string;
  readonly close: () => Promise<void>;
  readonly #listener: ConsoleListener;

  private constructor(listener: ConsoleListener) {
    this.#listener = listener;
    this.address = listener.address;
    this.close = () => listener.drain();
  }

  /** Throws a `StartError` if it cannot listen. */
  static async open({ tls }: Settings, at: ConsoleAt, setup: ConsoleSetup): Promise<Console> {
    const options = {
      ...setup,
      ...at,
      tls: tls === null ? null : tlsSettings(tls, DEFAULT_LIMITS),
      isLoopback: isLoopback(at.host),
      files: new PageFiles(pageFolder()),
    };
    try {
      return new Console(await openAt(at, options));
    } catch (error) {
      throw listenError("console", at, error as NodeJS.ErrnoException);
    }
  }

  /** Serves by other settings from the next connection on. */
  change({ tls }: Settings): void {
    if (tls !== null) this.#listener.changeTls(tlsSettings(tls, DEFAULT_LIMITS));
  }
}

/** Takes any port if the usual one is taken, so that a second server starts beside the first. */
async function openAt(at: ConsoleAt, options: ConsoleOptions): Promise<ConsoleListener> {
  try {
    return await openConsoleListener(options);
  } catch (error) {
    const isTaken = (error as NodeJS.ErrnoException).code === "EADDRINUSE";
    if (!isTaken || !at.isAnyPort) throw error;
    return openConsoleListener({ ...options, port: 0 });
  }
}
