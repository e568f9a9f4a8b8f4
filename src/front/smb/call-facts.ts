import type { CreateRequest } from "./codec/create.ts";

/** What is learned about a request while it is handled. The outcome reports it. */
export class CallFacts {
  share: string | null = null;
  /** Below the share. */
  path: string | null = null;
  /** The name that a log-on claims. */
  user: string | null = null;
  dialect: string | null = null;
  create: CreateRequest | null = null;
}
