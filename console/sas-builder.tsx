import { useEffect, useState } from "preact/hooks";
import { Fault } from "../src/base/fault.ts";
import type { Home } from "../src/front/console/answers.ts";
import type { ConsoleAccount } from "../src/front/console/console-facts.ts";
import { Choice, Letters, TextField } from "./field.tsx";
import { Copy, Empty, Problem } from "./parts.tsx";
import { Explained } from "./sas-explain.tsx";
import { sentenceOf } from "./sas-explained.ts";
import {
  type FormKind,
  HEADER_FIELDS,
  newForm,
  type SasForm,
  targetOf,
  timeAfter,
  tokenOf,
  type UserKey,
  usesOf,
} from "./sas-form.ts";
import { signedToken, type Token } from "./sas-token.ts";
import {
  ACCOUNT_LETTERS,
  FIELD_WORDS,
  letterText,
  type SasTarget,
  SERVICES_OF_ACCOUNT,
  TARGETS,
  TYPES_OF_ACCOUNT,
} from "./sas-words.ts";
import type { SignedIn } from "./signed-in.ts";
import { importKey } from "./signing.ts";
import type { Account } from "./storage.ts";
import { UserKeyFields } from "./user-key.tsx";
import { elements, textAt } from "./xml.ts";

type Change = (change: Partial<SasForm>) => void;

const KINDS: readonly (readonly [FormKind, string])[] = [
  ["service", "Service SAS: one container, blob, queue, table, share or file"],
  ["account", "Account SAS: whole services of the account"],
  ["user", "User delegation SAS: signed with a key of a user"],
];

const TARGET_OPTIONS = Object.entries(TARGETS).map(
  ([name, { title }]) => [name as SasTarget, title] as const,
);

export function BuildSas({ home, signedIn }: { home: Home; signedIn: SignedIn }) {
  const [first] = home.accounts;
  const [form, setForm] = useState(() => newForm(first?.name ?? "", Date.now()));
  const [userKey, setUserKey] = useState<UserKey | null>(null);
  const account = signedIn.accounts.get(form.account);
  const facts = home.accounts.find(({ name }) => name === form.account);
  if (account === undefined || facts === undefined) return null;
  const change: Change = (part) => setForm((known) => ({ ...known, ...part }));
  return (
    <div class="split two">
      <form class="card" aria-label="SAS" onSubmit={(event) => event.preventDefault()}>
        <Choice
          label="Kind"
          value={form.kind}
          options={KINDS}
          onChange={(kind) => change({ kind, letters: kind === "account" ? "rl" : "r" })}
        />
        <Choice
          label="Account"
          value={form.account}
          options={home.accounts.map(({ name }) => [name, name] as const)}
          onChange={(name) => change({ account: name })}
        />
        {form.kind === "user" ? (
          <UserKeyFields
            home={home}
            account={account}
            service={targetOf(form).service}
            userKey={userKey}
            onKey={setUserKey}
          />
        ) : null}
        {form.kind === "account" ? (
          <AccountFields form={form} change={change} />
        ) : (
          <ServiceFields form={form} account={account} change={change} />
        )}
        <UseFields form={form} change={change} />
      </form>
      <Built form={form} userKey={userKey} account={account} facts={facts} home={home} />
    </div>
  );
}

function AccountFields({ form, change }: { form: SasForm; change: Change }) {
  return (
    <>
      <Letters
        title="Services (ss)"
        options={SERVICES_OF_ACCOUNT}
        value={form.services}
        onChange={(services) => change({ services })}
      />
      <Letters
        title="Resource types (srt)"
        options={TYPES_OF_ACCOUNT}
        value={form.types}
        onChange={(types) => change({ types })}
      />
      <Letters
        title="Permissions (sp)"
        options={lettersOf("account", form, ACCOUNT_LETTERS)}
        value={form.letters}
        onChange={(letters) => change({ letters })}
      />
    </>
  );
}

function lettersOf(kind: FormKind, form: SasForm, letters: string) {
  const sasKind = kind === "account" ? "accountSas" : "serviceSas";
  return [...letters].map(
    (letter) => [letter, letterText(sasKind, targetOf(form).service, letter) ?? ""] as const,
  );
}

function ServiceFields(props: { form: SasForm; account: Account; change: Change }) {
  const { form, account, change } = props;
  const target = targetOf(form);
  const choose = (chosen: SasTarget) => {
    const letters = [...TARGETS[chosen].letters].filter((one) => form.letters.includes(one));
    change({ target: chosen, letters: letters.join("") });
  };
  return (
    <>
      <Choice
        label="For"
        hint={FIELD_WORDS.sr}
        value={form.target}
        options={TARGET_OPTIONS}
        onChange={choose}
      />
      <TextField
        label={target.holder}
        value={form.holder}
        onChange={(holder) => change({ holder })}
      />
      {target.name === null ? null : (
        <TextField
          label={target.name}
          hint={
            form.target === "directory"
              ? "A path in a container with directories: it opens everything below."
              : "With its path: folder/name.txt"
          }
          value={form.name}
          onChange={(name) => change({ name })}
        />
      )}
      {form.target === "snapshot" || form.target === "version" ? (
        <TextField
          label={form.target === "snapshot" ? "Snapshot" : "Version"}
          hint="As lists show it: 2026-11-16T00:17:23.1234567Z"
          value={form.revision}
          onChange={(revision) => change({ revision })}
        />
      ) : null}
      {form.kind === "service" ? (
        <PolicyField form={form} account={account} change={change} />
      ) : null}
      <Letters
        title="Permissions (sp)"
        {...(form.policy === ""
          ? {}
          : { hint: "Leave them out if the stored policy has permissions." })}
        options={lettersOf("service", form, target.letters)}
        value={form.letters}
        onChange={(letters) => change({ letters })}
      />
      {form.target === "table" ? <RangeFields form={form} change={change} /> : null}
      {["queue", "table"].includes(target.service) ? null : (
        <HeaderFields form={form} change={change} />
      )}
    </>
  );
}

function PolicyField({ form, account, change }: Parameters<typeof ServiceFields>[0]) {
  const [found, setFound] = useState<readonly string[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    setFound(null);
    setError(null);
  }, [account, form.target, form.holder]);
  const look = async () => {
    try {
      setFound(await policiesOf(account, form));
      setError(null);
    } catch (failure) {
      setFound(null);
      setError(failure);
    }
  };
  return (
    <>
      <TextField
        label="Stored access policy (si), if any"
        hint={FIELD_WORDS.si}
        value={form.policy}
        onChange={(policy) => change({ policy })}
      />
      <div class="tools">
        <button
          type="button"
          class="small"
          disabled={form.holder.trim() === ""}
          onClick={() => void look()}
        >
          Look up policies
        </button>
        {found?.length === 0 ? "It has none." : null}
        {found?.map((policy) => (
          <button type="button" class="small" key={policy} onClick={() => change({ policy })}>
            Use {policy}
          </button>
        ))}
      </div>
      <Problem error={error} />
    </>
  );
}

/** The ids of the stored policies. */
async function policiesOf(account: Account, form: SasForm): Promise<string[]> {
  const { service } = targetOf(form);
  const holder = form.holder.trim();
  const types: Readonly<Record<string, string>> = {
    blob: "container",
    dfs: "container",
    file: "share",
  };
  const restype = types[service];
  const answer = await account.ask({
    service: service === "dfs" ? "blob" : service,
    path: [holder],
    query: { ...(restype === undefined ? {} : { restype }), comp: "acl" },
  });
  const document = await answer.xml();
  return elements(document, "SignedIdentifier").map((one) => textAt(one, "Id"));
}

const RANGE_FIELDS = [
  ["startPartition", "First partition (spk)", undefined],
  ["startRow", "First row (srk)", FIELD_WORDS.srk],
  ["endPartition", "Last partition (epk)", undefined],
  ["endRow", "Last row (erk)", FIELD_WORDS.erk],
] as const;

function RangeFields({ form, change }: { form: SasForm; change: Change }) {
  return (
    <fieldset class="form">
      <legend>Only these rows (both ends included)</legend>
      {RANGE_FIELDS.map(([name, label, hint]) => (
        <TextField
          key={name}
          label={label}
          {...(hint === undefined ? {} : { hint })}
          value={form[name]}
          onChange={(value) => change({ [name]: value })}
        />
      ))}
    </fieldset>
  );
}

function HeaderFields({ form, change }: { form: SasForm; change: Change }) {
  return (
    <details>
      <summary>Headers of answers</summary>
      {HEADER_FIELDS.map((field) => (
        <TextField
          key={field}
          label={field}
          hint={FIELD_WORDS[field]}
          value={form.headers[field] ?? ""}
          onChange={(value) => change({ headers: { ...form.headers, [field]: value } })}
        />
      ))}
    </details>
  );
}

const LIFETIMES: readonly (readonly [string, number])[] = [
  ["1 hour", 3_600_000],
  ["1 day", 86_400_000],
  ["30 days", 30 * 86_400_000],
];

function UseFields({ form, change }: { form: SasForm; change: Change }) {
  return (
    <>
      <TextField
        label="Start (st)"
        hint={FIELD_WORDS.st}
        placeholder="2026-11-16T00:00:00Z"
        value={form.start}
        onChange={(start) => change({ start })}
      />
      <TextField
        label="Expiry (se)"
        hint="In UTC. Leave it out only if a stored policy has one."
        placeholder="2026-11-16T00:00:00Z"
        value={form.expiry}
        onChange={(expiry) => change({ expiry })}
      />
      <div class="tools">
        {LIFETIMES.map(([text, ms]) => (
          <button
            key={text}
            type="button"
            class="small"
            onClick={() => change({ expiry: timeAfter(Date.now(), ms) })}
          >
            {text} from now
          </button>
        ))}
      </div>
      <TextField
        label="Addresses (sip)"
        hint={FIELD_WORDS.sip}
        placeholder="10.0.0.1 or 10.0.0.1-10.0.0.9"
        value={form.addresses}
        onChange={(addresses) => change({ addresses })}
      />
      <Choice
        label="Protocols (spr)"
        hint={FIELD_WORDS.spr}
        value={form.protocol}
        options={[
          ["", "not said: both"],
          ["https,http", "HTTPS and HTTP"],
          ["https", "HTTPS only"],
        ]}
        onChange={(protocol) => change({ protocol })}
      />
      <TextField
        label="Version (sv)"
        hint={FIELD_WORDS.sv}
        value={form.version}
        onChange={(version) => change({ version })}
      />
    </>
  );
}

function Built(props: {
  form: SasForm;
  userKey: UserKey | null;
  account: Account;
  facts: ConsoleAccount;
  home: Home;
}) {
  const { form, userKey, account, facts, home } = props;
  const [token, setToken] = useState<Token | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let isOver = false;
    const show = (signed: Token | null, failure: unknown) => {
      if (isOver) return;
      setToken(signed);
      setError(failure);
    };
    tokenFor(form, userKey, account).then(
      (signed) => show(signed, null),
      (failure) => show(null, failure),
    );
    return () => {
      isOver = true;
    };
  }, [form, userKey, account]);
  if (token === null) {
    return (
      <section class="card" aria-label="Result">
        {error instanceof Missing ? <Empty>{error.message}</Empty> : <Problem error={error} />}
      </section>
    );
  }
  const uses = usesOf(token, form, facts);
  const ways: [string, string][] = [
    ["URL", uses.url],
    ["SAS", uses.sas],
    ["Connection string", uses.connectionString],
    ["curl", uses.curl],
  ];
  return (
    <div>
      <section class="card" aria-label="Result">
        {ways.map(([title, text]) => (
          <section class="way" key={title} aria-label={title}>
            <h3>{title}</h3>
            <Copy text={text} label={`Copy ${title}`} />
            <pre class="code">{text}</pre>
          </section>
        ))}
      </section>
      <Explained token={token} home={home} />
    </div>
  );
}

/** What is not entered yet: no mistake of anybody. */
class Missing extends Error {}

/** Signs in the browser, with the account's key or that of a user. */
async function tokenFor(form: SasForm, userKey: UserKey | null, account: Account): Promise<Token> {
  const { holder } = targetOf(form);
  if (form.kind !== "account" && form.holder.trim() === "") {
    throw new Missing(`Enter the name of the ${holder.toLowerCase()}.`);
  }
  if (form.kind === "user" && userKey === null)
    throw new Missing("Get a user delegation key first.");
  const token = tokenOf(form, form.kind === "user" ? userKey : null);
  const key = form.kind === "user" ? await importKey(userKey?.value ?? "") : account.key;
  if (key === null) throw new Error("Sign in with an account key to sign a SAS.");
  try {
    return await signedToken(token, key);
  } catch (error) {
    throw error instanceof Fault ? new Error(sentenceOf(error)) : error;
  }
}
