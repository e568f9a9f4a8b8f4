import { bytesText, durationText } from "../../base/amount-text.ts";
import type { Held } from "../../service/shared/holder.ts";
import type { ShownHolder } from "./answers.ts";

// Words for holders, for the page and the command line. Pure, because both use it.

export const HELD_KINDS: Readonly<Record<Held["kind"], string>> = {
  lease: "Leases",
  session: "SMB sessions",
  handle: "SMB opens",
  lock: "Byte-range locks",
  cache: "Oplocks and SMB leases",
  message: "Hidden messages",
  copy: "Pending copies",
  deletePending: "Delete pending",
};

/** `account/container/path` */
export function nameOf({
  account,
  container,
  path,
}: Pick<ShownHolder, "account" | "container" | "path">): string {
  return [account, container, path].filter((part) => part !== "").join("/");
}

export function kindOf(held: Held): string {
  switch (held.kind) {
    case "lease":
      return `${held.object} lease`;
    case "session":
      return "SMB session";
    case "handle":
      return held.isDirectory ? "open directory" : "open file";
    case "lock":
      return held.isExclusive ? "exclusive lock" : "shared lock";
    case "cache":
      return held.form === "lease" ? "SMB lease" : "oplock";
    case "message":
      return held.dequeueCount === 0 ? "scheduled message" : "hidden message";
    case "copy":
      return `copy to a ${held.object}`;
    case "deletePending":
      return "delete pending";
  }
}

/** By whom it is held, as far as the server knows. */
export function holderOf({ held, leasedBy }: ShownHolder): string {
  switch (held.kind) {
    case "lease":
      return leasedBy === undefined
        ? `lease ${held.id}`
        : [leasedBy.address, ...shortAgent(leasedBy.agent)].join(", ");
    case "session":
    case "handle":
      return held.clientIp;
    case "lock":
      return `handle ${held.handle}`;
    case "cache":
      return countOf(held.handles, "handle");
    case "message":
      return `message ${held.id}`;
    case "copy":
      return held.source;
    case "deletePending":
      return "its open handles";
  }
}

/** The first word names the program. */
function shortAgent(agent: string | null): string[] {
  return agent === null ? [] : agent.split(" ", 1);
}

export function termsOf(held: Held): string {
  switch (held.kind) {
    case "lease":
      if (held.state === "breaking") return "breaking";
      return held.durationSeconds === -1 ? "until released" : `${held.durationSeconds} s`;
    case "session": {
      const dialect = held.dialect === null ? "SMB" : `SMB ${held.dialect}`;
      return `${dialect}${held.isEncrypted ? ", encrypted" : ""}, ${countOf(held.opens, "handle")}`;
    }
    case "handle": {
      const share = held.shareMode.length === 0 ? "nobody" : held.shareMode.join(", ");
      const access = held.access.length === 0 ? "attributes" : held.access.join(", ");
      return `${access}; others: ${share}${held.deletesOnClose ? "; deletes on close" : ""}`;
    }
    case "lock":
      return `${held.length} bytes from ${held.offset}`;
    case "cache":
      return `${held.rights || "none"}${held.isBreaking ? ", breaking" : ""}`;
    case "message":
      return `dequeued ${countOf(held.dequeueCount, "time")}`;
    case "copy":
      return `${bytesText(held.bytesDone)} of ${bytesText(held.bytesTotal)}`;
    case "deletePending":
      return held.isDirectory ? "directory" : "file";
  }
}

/** How long it lasts yet, or how long it has lasted. */
export function timeOf(held: Held, nowMs: number): string {
  if (held.kind === "handle") return `for ${durationText(nowMs - held.openedMs)}`;
  if (held.kind === "session") return `for ${durationText(nowMs - held.beganMs)}`;
  if (!("untilMs" in held) || held.untilMs === null) return "";
  return `${durationText(held.untilMs - nowMs)} left`;
}

/** `1 handle`, `2 handles` */
export function countOf(count: number, one: string): string {
  return `${count} ${one}${count === 1 ? "" : "s"}`;
}
