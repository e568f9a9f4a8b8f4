import type { Need } from "./access.ts";

/** What imports and exports do and no client of the service can: a key of the account only. */
export const PAST_NEED: Need = {
  on: "o",
  account: "",
  service: "",
  anonymous: "never",
  actions: [],
};
