import type { Access } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";

/** What operations on an account work with. */
export interface AccountContext {
  readonly store: Store;
}

/** One service of an account: each has properties of its own. */
export interface ServiceAddress {
  readonly account: string;
  readonly service: "blob" | "file" | "queue" | "table";
}

/** Common to whatever is asked of a service as a whole. */
export interface ServiceAsked {
  readonly at: ServiceAddress;
  readonly access: Access;
}
