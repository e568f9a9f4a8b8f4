import { SERVICE_NAMES } from "./flags.ts";

/** Flags with which these services listen on free ports. */
export function anyPorts(services: readonly string[]): string[] {
  return services.flatMap((service) => [`--${service}Port`, "0"]);
}

/** Flags with which every service listens on a free port. */
export const ANY_PORTS: readonly string[] = anyPorts(SERVICE_NAMES);
