import type { Store } from "./store.ts";
import { StoreDecorator } from "./store-decorator.ts";

/** A store of which a test replaces some methods. */
export function altered(store: Store, methods: Partial<Store>): Store {
  return Object.assign(new StoreDecorator(store), methods);
}
