export const HEALTH_PATH = "/healthz";

/** Asked by balancers, which then send requests elsewhere. */
const FOR_REQUESTS = `${HEALTH_PATH}?for=requests`;
/** As above, for balancers that send writes elsewhere, too. */
const FOR_WRITES = `${HEALTH_PATH}?for=writes`;

export interface Health {
  /** Whether the process serves at all. */
  readonly isServing: boolean;
  /** Whether it is about to stop, and no more requests should be sent to it. */
  readonly isStopping: boolean;
  /** Why all requests would fail now, although a restart would not help; null if some succeed. */
  readonly outage: string | null;
  /** The same by the name of a database, if there are several. */
  readonly outages: ReadonlyMap<string, string | null>;
  /** Whether writes are refused because the disk is full. */
  readonly isFull: boolean;
}

export const HEALTHY: Health = {
  isServing: true,
  isStopping: false,
  outage: null,
  outages: new Map(),
  isFull: false,
};

/** Asks about the accounts of one database only. */
const DATABASE = /&database=([a-z0-9-]*)$/;

/**
 * Without a parameter it tells whether the process is alive: a restart helps if it is not. A full
 * disk still serves readers: only a check that asks about writes gets a 503 then. While some of
 * several databases can be reached, the server is ready: a balancer that took it out would take
 * their accounts away, too.
 */
export function healthAnswer(
  target: string,
  { isServing, isStopping, outage, outages, isFull }: Health,
): { readonly status: 200 | 404 | 503; readonly text: string } {
  if (!isServing) return { status: 503, text: "not serving\n" };
  if (isStopping) return { status: 503, text: "stopping\n" };
  const [, database] = DATABASE.exec(target) ?? [];
  const question = target.replace(DATABASE, "");
  const isForWrites = question === FOR_WRITES;
  if (database !== undefined && !outages.has(database)) {
    return { status: 404, text: `there is no database "${database}"\n` };
  }
  const reason = database === undefined ? outage : (outages.get(database) ?? null);
  if (reason !== null) {
    const isRefused = isForWrites || question === FOR_REQUESTS;
    return { status: isRefused ? 503 : 200, text: `not ready: ${reason}\n` };
  }
  if (isFull) return { status: isForWrites ? 503 : 200, text: "full: reads and deletes only\n" };
  const others = database === undefined ? [...outages.values()].filter((one) => one !== null) : [];
  if (others.length === 0) return { status: 200, text: "ok\n" };
  return { status: 200, text: `partly ready: ${others.join("; ")}\n` };
}
