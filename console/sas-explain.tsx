import { useEffect, useState } from "preact/hooks";
import type { Home } from "../src/front/console/answers.ts";
import { Field } from "./field.tsx";
import { Empty } from "./parts.tsx";
import {
  checkSignature,
  explainFields,
  type Remark,
  readPasted,
  remarksOn,
  type SignatureCheck,
} from "./sas-explained.ts";
import { kindOf, type Token } from "./sas-token.ts";

const KINDS = {
  accountSas: "An account SAS",
  serviceSas: "A service SAS",
  userDelegationSas: "A user delegation SAS",
} as const;

/** Explains a pasted SAS, which stays in the browser. */
export function ExplainSas({ home }: { home: Home }) {
  const [text, setText] = useState("");
  const token = readPasted(text, home);
  return (
    <>
      <Field
        label="A URL with a SAS, a SAS alone, or a connection string"
        hint="It stays in this browser."
        control={(ids) => (
          <textarea
            {...ids}
            value={text}
            spellcheck={false}
            onInput={(event) => setText(event.currentTarget.value)}
          />
        )}
      />
      {token === null ? (
        <Empty>
          {text.trim() === ""
            ? "Paste one above: each of its fields is explained here."
            : "There is no SAS in this text: its fields look like sv=…&sp=…&sig=…"}
        </Empty>
      ) : (
        <Explained token={token} home={home} />
      )}
    </>
  );
}

/** Shared by both pages: the builder explains what it made. */
export function Explained({ token, home }: { token: Token; home: Home }) {
  const [check, setCheck] = useState<SignatureCheck | null>(null);
  const key = JSON.stringify(token);
  useEffect(() => {
    let isOver = false;
    setCheck(null);
    checkSignature(token, home.accounts).then((found) => {
      if (!isOver) setCheck(found);
    });
    return () => {
      isOver = true;
    };
  }, [key]);
  const nowMs = Date.now();
  const isSecure = (home.urls[token.service] ?? "").startsWith("https:");
  const remarks = remarksOn(token, nowMs, isSecure);
  const place = [token.account, token.holder, token.name].filter((part) => part !== "").join("/");
  return (
    <section class="card" aria-label="Explanation">
      <h2>
        {KINDS[kindOf(token)]} for {place === "" ? "an account" : place}
      </h2>
      <Verdict remarks={remarks} check={check} />
      <FieldTable token={token} nowMs={nowMs} />
      {check?.text == null ? null : (
        <details>
          <summary>String to sign</summary>
          <pre class="code">{check.text}</pre>
        </details>
      )}
    </section>
  );
}

function Verdict({ remarks, check }: { remarks: readonly Remark[]; check: SignatureCheck | null }) {
  const isGood = check?.fits !== false && !remarks.some(({ isProblem }) => isProblem);
  return (
    <ul class="remarks">
      {isGood ? <li class="good">Valid now, as far as this page can tell.</li> : null}
      {check === null ? null : (
        <li class={check.fits === false ? "bad" : check.fits === true ? "good" : ""}>
          {check.verdict}
        </li>
      )}
      {remarks.map(({ isProblem, text }) => (
        <li key={text} class={isProblem ? "bad" : ""}>
          {text}
        </li>
      ))}
    </ul>
  );
}

function FieldTable({ token, nowMs }: { token: Token; nowMs: number }) {
  return (
    <table class="fields">
      <thead>
        <tr>
          <th scope="col">Field</th>
          <th scope="col">Value</th>
          <th scope="col">Meaning</th>
        </tr>
      </thead>
      <tbody>
        {explainFields(token, nowMs).map(({ name, value, words, isSigned }, at) => (
          <tr key={`${name} ${at}`}>
            <th scope="row">
              <code>{name}</code>
              {isSigned ? <small>signed</small> : null}
            </th>
            <td>
              <code>{name === "sig" ? `${value.slice(0, 6)}…` : value}</code>
            </td>
            <td>
              {words.map((line) => (
                <div key={line}>{line}</div>
              ))}
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
