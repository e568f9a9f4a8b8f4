import type { Home } from "../src/front/console/answers.ts";
import { BuildSas } from "./sas-builder.tsx";
import { ExplainSas } from "./sas-explain.tsx";
import type { SignedIn } from "./signed-in.ts";
import { linkTo } from "./way.ts";

/** Builds shared access signatures, and explains pasted ones. */
export function SasPage(props: { way: readonly string[]; home: Home; signedIn: SignedIn }) {
  const { way, home, signedIn } = props;
  const isExplaining = way[0] === "explain";
  return (
    <>
      <h1>Shared access signatures</h1>
      <nav class="tabs" aria-label="What to do with a SAS">
        <a href={linkTo("sas")} aria-current={isExplaining ? undefined : "page"}>
          Build
        </a>
        <a href={linkTo("sas", "explain")} aria-current={isExplaining ? "page" : undefined}>
          Explain
        </a>
      </nav>
      {isExplaining ? <ExplainSas home={home} /> : <BuildSas home={home} signedIn={signedIn} />}
    </>
  );
}
