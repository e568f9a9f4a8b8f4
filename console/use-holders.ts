import { useEffect, useState } from "preact/hooks";
import type { ShownHolders } from "../src/front/console/answers.ts";
import type { Holder } from "../src/service/shared/holder.ts";
import { listen } from "./api.ts";
import { useNow } from "./parts.tsx";
import { endingsOf } from "./release-holder.ts";

/** All holders, live; and the one that somebody is about to end, with how that is done. */
export function useHolders() {
  const [all, setAll] = useState<readonly Holder[]>([]);
  const [ending, setEnding] = useState<Holder | null>(null);
  const now = useNow();
  useEffect(() => listen<ShownHolders>("holders", ({ holders }) => setAll(holders)), []);
  const [how] = ending === null ? [] : endingsOf(ending, all);
  return { all, ending, setEnding, how, now };
}
