import { key, keyAfter, SPACE } from "../../base/keys.ts";
import type { FileContext } from "./context.ts";
import { nameOfShareKey, shareKey } from "./records.ts";

const BODY_NAMES_MAX = 1_000;

/** All shares of an account in the order of their names, for its owner. */
export async function listShareNames(context: FileContext, account: string): Promise<string[]> {
  const all = key(SPACE.share, account);
  const names: string[] = [];
  for (;;) {
    const last = names.at(-1);
    const from = last === undefined ? all : keyAfter(shareKey({ account, share: last }));
    const page = await context.store.read((view) =>
      view.range(from, keyAfter(all), { limit: BODY_NAMES_MAX }),
    );
    for (const entry of page) names.push(nameOfShareKey(entry.key));
    if (page.length < BODY_NAMES_MAX) return names;
  }
}
