import { useEffect, useState } from "preact/hooks";
import { ApiError, getJson, postJson } from "./api.ts";
import { Browse } from "./browse.tsx";
import { HolderPage } from "./holders.tsx";
import { HomePage } from "./home.tsx";
import { Problem } from "./parts.tsx";
import { PlotPage } from "./plots.tsx";
import { RequestPage } from "./requests.tsx";
import { SasPage } from "./sas.tsx";
import { ScenePage } from "./scenes.tsx";
import { SignIn } from "./sign-in.tsx";
import { type SignedIn, signedInAs } from "./signed-in.ts";
import { SpacePage } from "./space.tsx";
import { linkTo, wayFromHash } from "./way.ts";
import { WhyPage } from "./why.tsx";

const PAGES = [
  ["home", "Home"],
  ["browse", "Browse"],
  ["holders", "Who holds what"],
  ["requests", "Live requests"],
  ["plots", "Plots"],
  ["space", "Space"],
  ["sas", "SAS"],
  ["why", "Why 403?"],
  ["scenes", "Scenes"],
] as const;

type PageName = (typeof PAGES)[number][0];

export function App() {
  const [signedIn, setSignedIn] = useState<SignedIn | null>(null);
  const [isReady, setReady] = useState(false);
  const [error, setError] = useState<unknown>(null);
  const [way, setWay] = useState(wayFromHash);

  useEffect(() => {
    const follow = () => setWay(wayFromHash());
    addEventListener("hashchange", follow);
    begin()
      .then(setSignedIn, setError)
      .finally(() => setReady(true));
    return () => removeEventListener("hashchange", follow);
  }, []);

  if (!isReady) return <main class="center" aria-busy="true" />;
  if (signedIn === null) return <SignIn problem={error} onSignedIn={setSignedIn} />;
  const pages = PAGES.filter(([name]) => isFor(name, signedIn));
  const [chosen = ""] = way;
  const page = pages.find(([name]) => name === chosen)?.[0] ?? pages[0]?.[0] ?? "browse";
  const signOut = async () => {
    await postJson("/api/sign-out", {}).catch(() => {});
    setSignedIn(null);
  };
  return (
    <>
      <header class="top">
        <strong class="brand">Lazuli</strong>
        <nav aria-label="Pages">
          {pages.map(([name, title]) => (
            <a key={name} href={linkTo(name)} aria-current={name === page ? "page" : undefined}>
              {title}
            </a>
          ))}
        </nav>
        <button type="button" class="small" onClick={signOut}>
          Sign out
        </button>
      </header>
      <main>
        <Problem error={error} />
        <Page name={page} way={way.slice(1)} signedIn={signedIn} />
      </main>
    </>
  );
}

function isFor(page: PageName, { home, isOperator }: SignedIn): boolean {
  if (page === "plots") return isOperator;
  return page === "browse" || home !== null;
}

function Page({ name, way, signedIn }: { name: PageName; way: string[]; signedIn: SignedIn }) {
  const { home } = signedIn;
  if (name === "browse" || home === null) return <Browse way={way} signedIn={signedIn} />;
  switch (name) {
    case "home":
      return <HomePage home={home} isOperator={signedIn.isOperator} />;
    case "holders":
      return <HolderPage signedIn={signedIn} />;
    case "requests":
      return <RequestPage signedIn={signedIn} />;
    case "sas":
      return <SasPage way={way} home={home} signedIn={signedIn} />;
    case "why":
      return <WhyPage number={way[0] ?? null} home={home} />;
    case "scenes":
      return <ScenePage home={home} />;
    case "plots":
      return <PlotPage />;
    case "space":
      return <SpacePage />;
  }
}

/** Takes the token in the address, if there is one, or the session of before. */
async function begin(): Promise<SignedIn | null> {
  const token = /^#token=([\w-]+)$/.exec(location.hash)?.[1];
  if (token !== undefined) {
    // It must not stay in the history.
    history.replaceState(null, "", location.pathname);
    try {
      await postJson("/api/sign-in", { token });
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 401) throw error;
      // A link that was followed before: its session may still be there.
      const found = await resume();
      if (found === null) throw error;
      return found;
    }
  }
  return resume();
}

async function resume(): Promise<SignedIn | null> {
  const session = await getJson<{ account: string | null }>("/api/session").catch((error) => {
    if (error instanceof ApiError && error.status === 401) return null;
    throw error;
  });
  return session === null ? null : signedInAs(session.account);
}
