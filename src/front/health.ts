export const HEALTH_PATH = "/healthz";

const FOR_WRITES = `${HEALTH_PATH}?for=writes`;

export interface Health {
  /** Whether the process serves at all, and is not about to stop. */
  readonly isServing: boolean;
  /** Whether writes are refused because the disk is full. */
  readonly isFull: boolean;
}

/** A full disk still serves readers: only a check that asks about writes gets a 503 then. */
export function healthAnswer(
  target: string,
  { isServing, isFull }: Health,
): { readonly status: 200 | 503; readonly text: string } {
  if (!isServing) return { status: 503, text: "not serving\n" };
  if (!isFull) return { status: 200, text: "ok\n" };
  return { status: target === FOR_WRITES ? 503 : 200, text: "full: reads and deletes only\n" };
}
