import { DEFAULT_CONSOLE_PORT, DEFAULT_HOST, DEFAULT_LAB_PORT } from "./flags.ts";
import { isLoopback } from "./network-guard.ts";
import type { Program } from "./programs.ts";
import { UsageError } from "./start-error.ts";

/** Where metrics are served. */
export interface MetricsAt {
  readonly host: string;
  readonly port: number;
}

export interface ConsoleAt extends MetricsAt {
  /** Whether another port will do, if this one is taken. */
  readonly isAnyPort: boolean;
}

/** The given flags, as far as this file reads them. */
interface GivenAddresses {
  has(name: string): boolean;
  text(name: string): string | null;
  number(name: string, what: string, from: number, to?: number): number | null;
}

export const PORT_MAX = 65_535;

/** Null unless the port is given: metrics are off by default. */
export function readMetrics(given: GivenAddresses): MetricsAt | null {
  const host = given.text("metricsHost");
  const port = given.number("metricsPort", "a port", 0, PORT_MAX);
  if (port !== null) return { host: host ?? DEFAULT_HOST, port };
  if (host === null) return null;
  throw new UsageError("--metricsHost needs a port: give it with --metricsPort.");
}

/**
 * Null if there is no console: in the programs of Azurite, which open the ports that scripts know,
 * and where nobody would read its address, it takes --consolePort.
 */
export function readConsole(given: GivenAddresses, { isAzurite }: Program): ConsoleAt | null {
  const host = given.text("consoleHost");
  const port = given.number("consolePort", "a port", 0, PORT_MAX);
  const flag = port !== null ? "consolePort" : host !== null ? "consoleHost" : null;
  if (given.has("noConsole")) {
    if (flag === null) return null;
    throw new UsageError(`--noConsole and --${flag} contradict each other: leave one of them out.`);
  }
  if (flag === null && (isAzurite || given.has("silent"))) return null;
  const at = { host: host ?? DEFAULT_HOST, port: port ?? DEFAULT_CONSOLE_PORT };
  if (!isLoopback(at.host) && !given.has("cert")) {
    throw new UsageError(
      `The console on ${at.host} needs HTTPS, because keys pass through it: give a certificate with --cert and --key.`,
    );
  }
  return { ...at, isAnyPort: port === null };
}

/** Null without `--lab`. It is always on loopback. */
export function readLab(given: GivenAddresses): MetricsAt | null {
  const port = given.number("labPort", "a port", 0, PORT_MAX);
  return given.has("lab") ? { host: DEFAULT_HOST, port: port ?? DEFAULT_LAB_PORT } : null;
}
