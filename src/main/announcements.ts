import { resolve } from "node:path";
import { s3Url } from "../engine/s3/s3-place.ts";
import { SERVICES, type ServiceName } from "./flags.ts";
import type { NamedPlace } from "./places.ts";
import type { Program } from "./programs.ts";
import type { Settings } from "./settings.ts";
import { readRecordsAddress } from "./shared-place.ts";

/** A listening server, and its settings. */
export interface Started {
  readonly version: string;
  readonly settings: Pick<Settings, "places" | "accounts" | "listen" | "tls">;
  /** By service, in the order of their start. */
  readonly origins: ReadonlyMap<ServiceName, string>;
  /** Null if metrics are off. */
  readonly metricsOrigin: string | null;
  /** With the token that signs in once; null if there is no console. */
  readonly consoleAddress: string | null;
  /** Null without a lab. */
  readonly labOrigin: string | null;
}

/** Lines on standard output about the start and stop of a server. */
export interface Announcements {
  readonly ready: readonly string[];
  readonly closing: readonly string[];
  readonly closed: readonly string[];
}

/** The most accounts in a line. */
const ACCOUNTS_SHOWN_MAX = 10;

/** The lines of a program: scripts that start Azurite wait for the exact lines of Azurite 3.37. */
export function announcementsOf(program: Program, started: Started): Announcements {
  const lines = program.isAzurite ? azuriteLines(program, started) : ownLines(started);
  const { metricsOrigin, consoleAddress, labOrigin } = started;
  const more = [
    ...(metricsOrigin === null ? [] : [`Metrics are at ${metricsOrigin}/metrics`]),
    ...(consoleAddress === null ? [] : [`Console: ${consoleAddress}`]),
    ...(labOrigin === null ? [] : [`The lab is at ${labOrigin}`]),
  ];
  return { ...lines, ready: [...lines.ready, ...more] };
}

function azuriteLines(program: Program, started: Started): Announcements {
  const titles = program.services.map((service) => SERVICES[service].title);
  const isOne = program.services.length === 1;
  return {
    ready: program.services.flatMap((service) =>
      isOne ? readyAlone(service, started) : readyTogether(service, started),
    ),
    closing: titles.map((title) => `Azurite ${title} service is closing...`),
    closed: titles.map((title) => `Azurite ${title} service successfully closed`),
  };
}

function ownLines({ version, settings, origins }: Started): Announcements {
  const { accounts } = settings;
  const names = [...accounts.byName.keys()];
  const more = names.length - ACCOUNTS_SHOWN_MAX;
  const shown = names.slice(0, ACCOUNTS_SHOWN_MAX).join(", ");
  const listening = [...origins].map(
    ([service, origin]) =>
      `${SERVICES[service].title} service is successfully listening at ${origin}`,
  );
  return {
    ready: [
      `Lazuli ${version}`,
      ...settings.places.map((place) => `${titleOf(place)}: ${placeOf(place)}`),
      `Accounts: ${shown}${more > 0 ? ` and ${more} more` : ""}`,
      ...listening,
    ],
    closing: [],
    closed: [],
  };
}

function titleOf({ name }: NamedPlace): string {
  return name === null ? "Data" : `Database ${name}`;
}

/** Where data is, in words. */
export function placeOf({ location, shared = null, bucket = null }: NamedPlace): string {
  const bytes = bucket === null ? null : s3Url(bucket);
  if (shared === null) {
    const records = location === null ? "in memory" : resolve(location);
    return bytes === null ? records : `${records}, large bodies in ${bytes}`;
  }
  const { shown } = readRecordsAddress(shared.records);
  return `records at ${shown}, bytes in ${bytes ?? resolve(shared.bytes)}`;
}

/** The lines of `azurite`: the requested address, then the actual one. */
function readyTogether(service: ServiceName, { settings, origins }: Started): string[] {
  const { title } = SERVICES[service];
  const { host, port } = settings.listen[service];
  const scheme = settings.tls === null ? "http" : "https";
  return [
    `Azurite ${title} service is starting at ${scheme}://${host}:${port}`,
    `Azurite ${title} service is successfully listening at ${origins.get(service)}`,
  ];
}

/** The lines of `azurite-blob` and the like, which differ from those of `azurite`. */
function readyAlone(service: ServiceName, { settings, origins }: Started): string[] {
  const { title } = SERVICES[service];
  const { host, port } = settings.listen[service];
  const isListening =
    service === "table"
      ? `successfully started on ${host}:${port}`
      : `successfully listens on ${origins.get(service)}`;
  return [
    `Azurite ${title} service is starting on ${host}:${port}`,
    `Azurite ${title} service ${isListening}`,
  ];
}
