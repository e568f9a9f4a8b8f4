import { useState } from "preact/hooks";
import type { Home } from "../src/front/console/answers.ts";
import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { ApiError, PAGE_HEADERS } from "./api.ts";
import { TextField } from "./field.tsx";
import { dateText } from "./format.ts";
import { Problem } from "./parts.tsx";
import { timeAfter, type UserKey } from "./sas-form.ts";
import type { Account } from "./storage.ts";
import { textAt } from "./xml.ts";

const KEY_VERSION = "2025-07-05";
const DAY_MS = 86_400_000;

/** Fields of the SAS that repeat the terms of the key, and the elements that hold them. */
const TERMS = [
  ["skoid", "SignedOid"],
  ["sktid", "SignedTid"],
  ["skt", "SignedStart"],
  ["ske", "SignedExpiry"],
  ["sks", "SignedService"],
  ["skv", "SignedVersion"],
] as const;

/** Gets a user delegation key with a bearer token, or says what the server lacks for it. */
export function UserKeyFields(props: {
  home: Home;
  account: Account;
  service: ServiceName;
  userKey: UserKey | null;
  onKey: (key: UserKey | null) => void;
}) {
  const { home, account, service, userKey, onKey } = props;
  const [token, setToken] = useState("");
  const [error, setError] = useState<unknown>(null);
  const lack = lackOf(home, service);
  if (lack !== null) return <p class="explained">{lack}</p>;
  const get = async () => {
    try {
      onKey(await getUserKey(account, service, token.trim()));
      setError(null);
    } catch (failure) {
      onKey(null);
      setError(failure);
    }
  };
  const until = userKey?.fields.find(([name]) => name === "ske")?.[1];
  return (
    <>
      <TextField
        label="Bearer token"
        hint="Of the user who signs. It is sent to this server once, to get the key, and stored nowhere."
        value={token}
        onChange={setToken}
      />
      <div class="tools">
        <button type="button" disabled={token.trim() === ""} onClick={get}>
          Get a key for a day
        </button>
        {until === undefined ? null : <span>Key valid until {dateText(until)}</span>}
      </div>
      <Problem error={error} />
    </>
  );
}

function lackOf(home: Home, service: ServiceName): string | null {
  if (service === "table") return "Tables take no user delegation SAS.";
  const isSecure = (home.urls[service] ?? "").startsWith("https:");
  if (home.takesTokens && isSecure) return null;
  return (
    "A user delegation SAS is signed with a key that a user gets for a bearer token, and this server takes none. " +
    "Start it with --cert and --key, and with --oauth basic or an issuer in its configuration file."
  );
}

async function getUserKey(account: Account, service: ServiceName, token: string): Promise<UserKey> {
  const door = service === "dfs" ? "blob" : service;
  const now = Date.now();
  const response = await fetch(
    `/services/${door}/${account.name}/?restype=service&comp=userdelegationkey`,
    {
      method: "POST",
      headers: {
        ...PAGE_HEADERS,
        authorization: `Bearer ${token}`,
        "x-ms-version": KEY_VERSION,
        "content-type": "application/xml",
      },
      body: `<KeyInfo><Start>${timeAfter(now, -60_000)}</Start><Expiry>${timeAfter(now, DAY_MS)}</Expiry></KeyInfo>`,
    },
  );
  const parsed = new DOMParser().parseFromString(await response.text(), "application/xml");
  const answer = parsed.documentElement;
  if (!response.ok) {
    const detail = textAt(answer, "AuthenticationErrorDetail") || textAt(answer, "Message");
    throw new ApiError(response.status, response.headers.get("x-ms-error-code") ?? "", detail);
  }
  const fields = TERMS.map(([name, element]) => [name, textAt(answer, element)] as const);
  return { fields, value: textAt(answer, "Value") };
}
