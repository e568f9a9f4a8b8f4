import type { Access } from "../../rules/access.ts";
import type { Store } from "../../store/store.ts";

/** The context of operations on an account. */
export interface AccountContext {
  readonly store: Store;
}

/** One service of an account: each has its own properties. */
export interface ServiceAddress {
  readonly account: string;
  readonly service: "blob" | "file" | "queue" | "table";
}

/** Common to every request to a service as a whole. */
export interface ServiceAsked {
  readonly at: ServiceAddress;
  readonly access: Access;
}
