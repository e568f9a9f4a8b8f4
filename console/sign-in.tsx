import { useState } from "preact/hooks";
import { getJson, postJson } from "./api.ts";
import { Problem } from "./parts.tsx";
import { type SignedIn, signedInAs } from "./signed-in.ts";
import { importKey, sign } from "./signing.ts";
import { Account } from "./storage.ts";

/** Signs in with a key or a SAS. Neither leaves the browser: a challenge is signed with the key. */
export function SignIn(props: { problem: unknown; onSignedIn: (signedIn: SignedIn) => void }) {
  const [name, setName] = useState("devstoreaccount1");
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<unknown>(props.problem);
  const submit = async (event: Event) => {
    event.preventDefault();
    try {
      props.onSignedIn(await signIn(name.trim(), secret.trim()));
    } catch (failure) {
      setError(failure);
    }
  };
  return (
    <main class="center">
      <form class="card sign-in" onSubmit={submit}>
        <h1>Lazuli console</h1>
        <p>
          Open the address that the server printed at its start, or sign in with an account key or a
          SAS. They stay in this browser's memory.
        </p>
        <label>
          Account
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <label>
          Key or SAS
          <input
            type="password"
            autocomplete="off"
            value={secret}
            onInput={(event) => setSecret(event.currentTarget.value)}
          />
        </label>
        <Problem error={error} />
        <div class="actions">
          <button type="submit" class="primary" disabled={name === "" || secret === ""}>
            Sign in
          </button>
        </div>
      </form>
    </main>
  );
}

async function signIn(name: string, secret: string): Promise<SignedIn> {
  if (/(^|[?&])sig=/.test(secret)) {
    const accounts = new Map([[name, Account.withSas(name, secret)]]);
    return { home: null, accounts, isOperator: false };
  }
  const key = await importKey(secret).catch(() => {
    throw new Error("This is neither a key in Base64 nor a SAS (sv=…&sig=…).");
  });
  const { challenge } = await getJson<{ challenge: string }>("/api/challenge");
  const signature = await sign(key, `lazuli-console\n${challenge}`);
  await postJson("/api/sign-in", { account: name, challenge, signature });
  return signedInAs(name);
}
