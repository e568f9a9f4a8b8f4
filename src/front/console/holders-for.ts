import type { Holder, HolderList } from "../../service/shared/holder.ts";
import type { ShownHolder, ShownHolders } from "./answers.ts";
import type { RequestRing } from "./request-ring.ts";
import type { Session } from "./sessions.ts";
import { visibleTo } from "./visible-to.ts";

/** What a session may see of the holders, with the clients of leases. */
export function holdersFor(
  session: Session,
  { holders, ...list }: HolderList,
  ring: Pick<RequestRing, "leaserOf">,
): ShownHolders {
  const shown = holders
    .filter(visibleTo(session))
    .map((holder) => (holder.held.kind === "lease" ? withLeaser(holder, ring) : holder));
  return { ...list, holders: shown };
}

function withLeaser(holder: Holder, ring: Pick<RequestRing, "leaserOf">): ShownHolder {
  const leasedBy = ring.leaserOf(objectOf(holder));
  return leasedBy === null ? holder : { ...holder, leasedBy };
}

/** As requests name it. */
function objectOf({ account, container, path, held }: Holder): string {
  const name = path === "" ? `${account}/${container}` : `${account}/${container}/${path}`;
  const isFile = held.kind === "lease" && (held.object === "share" || held.object === "file");
  // The File service compares names without case.
  return isFile ? `file:${name.toLowerCase()}` : `blob:${name}`;
}
