import type { ListenAt } from "./command-line.ts";
import { SERVICES, type ServiceName } from "./flags.ts";
import { StartError } from "./start-error.ts";

const SIDE_LISTENERS = { metrics: "Metrics", console: "The console", lab: "The lab" } as const;

function isSide(name: string): name is keyof typeof SIDE_LISTENERS {
  return name in SIDE_LISTENERS;
}

/** Says why a port cannot be opened, and what to do. */
export function listenError(
  name: ServiceName | keyof typeof SIDE_LISTENERS,
  { host, port }: Pick<ListenAt, "host" | "port">,
  error: NodeJS.ErrnoException,
): StartError {
  const who = isSide(name) ? SIDE_LISTENERS[name] : `The ${SERVICES[name].title} service`;
  const what = `${who} cannot listen on ${host}, port ${port}`;
  switch (error.code) {
    case "EADDRINUSE":
      return new StartError(
        `${what}: the port is in use. Stop the other program, or choose a port with --${name}Port.`,
      );
    case "EACCES":
      return new StartError(
        `${what}: the system does not permit it. Choose a port above 1023 with --${name}Port.`,
      );
    default:
      return new StartError(
        `${what} (${error.message}). Give an address of this machine with --${name}Host.`,
      );
  }
}
