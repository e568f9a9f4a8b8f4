import { useEffect, useState } from "preact/hooks";
import { durationText } from "../src/base/amount-text.ts";
import type { Home } from "../src/front/console/answers.ts";
import type {
  AclJudged,
  CredentialsJudged,
  NeedJudged,
} from "../src/front/console/console-facts.ts";
import { ApiError, postJson } from "./api.ts";
import { Field } from "./field.tsx";
import { Empty, Problem } from "./parts.tsx";
import { readRequest } from "./pasted-request.ts";
import { linkTo } from "./way.ts";

/** How far a request's date may be from the server's clock. */
const SKEW_MS_MAX = 15 * 60_000;

/** Explains why a request was refused: a remembered one, or one that is pasted. */
export function WhyPage({ number, home }: { number: string | null; home: Home }) {
  const [text, setText] = useState("");
  const [shown, setShown] = useState("");
  const [isThen, setThen] = useState(true);
  const [judged, setJudged] = useState<CredentialsJudged | null>(null);
  const [error, setError] = useState<unknown>(null);
  const pasted = text.trim() === "" ? null : readRequest(text, home);

  const ask = async (body: object) => {
    try {
      const stringToSign = shown === "" ? {} : { stringToSign: shown.replaceAll("\r\n", "\n") };
      setJudged(await postJson<CredentialsJudged>("/api/why", { ...body, ...stringToSign }));
      setError(null);
    } catch (failure) {
      setJudged(null);
      setError(failure);
    }
  };
  const explain = () => {
    if (number !== null) return ask({ number: Number(number) });
    if (pasted === null || typeof pasted === "string") {
      setError(new ApiError(0, "", pasted ?? "Paste a request first."));
      return;
    }
    const { sentMs, ...request } = pasted;
    return ask({ ...request, ...(isThen && sentMs !== null ? { atMs: sentMs } : {}) });
  };
  useEffect(() => {
    setJudged(null);
    setError(null);
    if (number !== null) void ask({ number: Number(number) });
  }, [number]);

  const sentMs = pasted === null || typeof pasted === "string" ? null : pasted.sentMs;
  return (
    <>
      <h1>Why was it refused?</h1>
      <form
        class="card"
        aria-label="Request"
        onSubmit={(event) => {
          event.preventDefault();
          void explain();
        }}
      >
        {number === null ? (
          <>
            <Field
              label="The request: method and URL, headers below, or a curl command"
              hint="It is sent to this server only, which judges it and does nothing else."
              control={(ids) => (
                <textarea
                  {...ids}
                  rows={6}
                  spellcheck={false}
                  placeholder={PLACEHOLDER}
                  value={text}
                  onInput={(event) => setText(event.currentTarget.value)}
                />
              )}
            />
            {typeof pasted === "string" ? <p class="hint">{pasted}</p> : null}
            <label>
              <input
                type="checkbox"
                checked={isThen}
                onChange={(event) => setThen(event.currentTarget.checked)}
              />{" "}
              Judge it at the time of its own date, not now
            </label>
          </>
        ) : (
          <p>
            Request {number} of <a href={linkTo("requests")}>Live requests</a>, judged at the time
            at which it came. <a href={linkTo("why")}>Paste another one</a>
          </p>
        )}
        <Field
          label="What the client says it signed, if you know"
          hint="Most SDKs can log their string to sign. With it, both are shown side by side."
          control={(ids) => (
            <textarea
              {...ids}
              spellcheck={false}
              value={shown}
              onInput={(event) => setShown(event.currentTarget.value)}
            />
          )}
        />
        <div class="actions">
          <button type="submit" class="primary">
            Explain
          </button>
        </div>
      </form>
      <Problem error={error} />
      {judged === null ? (
        error === null && number === null ? (
          <Empty>Paste a refused request, or open one with a 403 under Live requests.</Empty>
        ) : null
      ) : (
        <Verdict judged={judged} shown={shown} sentMs={isThen ? sentMs : null} />
      )}
    </>
  );
}

const PLACEHOLDER = `GET http://127.0.0.1:10000/devstoreaccount1/box?restype=container&comp=list
x-ms-date: Mon, 16 Nov 2026 00:17:23 GMT
x-ms-version: 2025-01-05
Authorization: SharedKey devstoreaccount1:…`;

function Verdict(props: { judged: CredentialsJudged; shown: string; sentMs: number | null }) {
  const { judged, shown, sentMs } = props;
  const { refusal, signature, operation, account } = judged;
  const age = sentMs === null ? 0 : Date.now() - sentMs;
  return (
    <section class="card" aria-label="Explanation">
      <h2>{refusal === null ? "Its credentials are good" : `${refusal.status} ${refusal.code}`}</h2>
      {refusal === null ? (
        <p>
          They permit {operation ?? "it"}
          {account === null ? "" : ` on ${account}`}. If it fails nevertheless, the reason is
          another one, and its answer says which.
        </p>
      ) : (
        <div class="explained">
          {reasonsOf(judged).map((line) => (
            <div key={line}>{line}</div>
          ))}
        </div>
      )}
      {Math.abs(age) > SKEW_MS_MAX ? (
        <p>
          Its date is {durationText(Math.abs(age))} {age > 0 ? "old" : "ahead"} by now: sent now, it
          is refused for that alone. The two clocks may be 15 minutes apart.
        </p>
      ) : null}
      {signature === null ? null : <Signatures judged={judged} shown={shown} />}
    </section>
  );
}

/** The server's words first, then what they mean for this request. */
function reasonsOf(judged: CredentialsJudged): string[] {
  const { refusal, need, acl, operation, signature } = judged;
  if (refusal === null) return [];
  const lines = [refusal.detail ?? refusal.message];
  if (signature?.mistake != null) lines.push(signature.mistake);
  else if (refusal.reason !== null) lines.push(refusal.reason);
  const advice = ADVICE[refusal.code];
  if (advice !== undefined) lines.push(advice);
  if (acl !== null) return [...lines, ...aclReasons(acl, need)];
  return need === null ? lines : [...lines, ...needReasons(need, refusal.code, operation)];
}

function needReasons(need: NeedJudged, code: string, operation: string | null): string[] {
  const lines: string[] = [];
  const isSas = need.kind.endsWith("sas");
  const isMismatch = code === "AuthorizationPermissionMismatch";
  if (isMismatch && need.kind === "token") {
    lines.push(`${operation} needs a role of the user with ${need.actions.join(" or ")}.`);
  }
  if (isMismatch && isSas) {
    const letters = [...need.letters].join(need.isEvery ? " and " : " or ");
    lines.push(
      `${operation} needs the letter ${letters} in sp; this SAS has ${need.granted || "none"}.`,
    );
  }
  if (code === "AuthorizationResourceTypeMismatch") {
    const types = [...need.type].join(" or ");
    lines.push(`${operation} needs ${types} in srt; this SAS has ${need.grantedTypes}.`);
  }
  if (need.letters === "" && isSas) {
    lines.push(`No SAS of this kind permits ${operation}: use an account key or a token.`);
  }
  if (need.policy !== null) {
    lines.push(
      `It uses the stored policy ${need.policy}, which must exist, be valid now, and repeat nothing that the SAS says itself.`,
    );
  }
  return lines;
}

/** What an access control list along the path lacks, and what would help. */
function aclReasons(acl: AclJudged, need: NeedJudged | null): string[] {
  const place = acl.path === "" ? "the root directory" : acl.path;
  const groups = acl.groups.length === 0 ? "no groups" : `groups ${acl.groups.join(", ")}`;
  const lacks =
    acl.needed !== null
      ? `The ACL of ${place} gives the user ${acl.granted}, and ${acl.needed} is needed there.`
      : acl.isSticky && acl.owner !== acl.user
        ? `${place} has the sticky bit: only the owners of a file and of its directory may delete or rename it.`
        : `Only the owner of ${place} may do that.`;
  const roles =
    need?.kind === "token" ? ` A role with ${need.actions.join(" or ")} permits it, too.` : "";
  return [
    lacks,
    `The user is ${acl.user || "unnamed"} (${groups}). ${place} belongs to ${acl.owner} and the group ${acl.group}, with the ACL ${acl.acl}.`,
    `An account key can change it: Browse, Access control.${roles}`,
  ];
}

const ADVICE: Readonly<Record<string, string>> = {
  AuthorizationSourceIPMismatch: "The SAS permits other addresses (sip) than the client has.",
  AuthorizationProtocolMismatch: "The SAS permits HTTPS only (spr), and the request came by HTTP.",
  AuthorizationServiceMismatch: "The account SAS is for other services (ss) than this one.",
  NoAuthenticationInformation: "The request has neither an Authorization header nor a SAS.",
};

/** Both strings, line by line, with the first difference marked. */
function Signatures({ judged, shown }: { judged: CredentialsJudged; shown: string }) {
  const { signature, auth } = judged;
  if (signature === null) return null;
  const { serverText, clientText, isShownText } = signature;
  const client = shown === "" ? clientText : shown.replaceAll("\r\n", "\n");
  if (client === null) {
    return (
      <>
        <p>
          What the client signed is none of the usual mistakes. Compare the server's string with its
          own: paste that above.
        </p>
        <h3>The server signs</h3>
        <pre class="code">{serverText}</pre>
      </>
    );
  }
  const [ours, theirs] = [serverText.split("\n"), client.split("\n")];
  const rows = Array.from({ length: Math.max(ours.length, theirs.length) }, (_, at) => at);
  const first = rows.find((at) => ours[at] !== theirs[at]) ?? null;
  return (
    <>
      {isShownText === null ? null : (
        <p>
          {isShownText
            ? "A key of the account does make this signature of the pasted string: the first difference is the reason."
            : "No key of the account makes this signature of the pasted string: the client has another key, or signed something else."}
        </p>
      )}
      <table class="fields strings">
        <caption>
          {first === null
            ? "Both strings are the same: the key is the difference."
            : `The first difference is in line ${first + 1}.`}
        </caption>
        <thead>
          <tr>
            <th scope="col">Line</th>
            <th scope="col">The client signed</th>
            <th scope="col">The server signs</th>
          </tr>
        </thead>
        <tbody>
          {withoutEmptyRuns(ours, theirs).map(([at, last]) =>
            last > at ? (
              <tr key={at}>
                <th scope="row">
                  {at + 1} to {last + 1}
                </th>
                <td colSpan={2}>
                  <em>empty in both</em>
                </td>
              </tr>
            ) : (
              <tr key={at} class={at === first ? "differs" : ""}>
                <th scope="row">
                  {at + 1} <small>{auth === "sharedKey" ? (LINE_NAMES[at] ?? "") : ""}</small>
                </th>
                <td>
                  <Line text={theirs[at]} other={ours[at]} isMarked={at === first} />
                </td>
                <td>
                  <Line text={ours[at]} other={theirs[at]} isMarked={at === first} />
                </td>
              </tr>
            ),
          )}
        </tbody>
      </table>
    </>
  );
}

/** First and last of the lines in each row: those that are empty in both strings share one. */
function withoutEmptyRuns(ours: readonly string[], theirs: readonly string[]): [number, number][] {
  const runs: [number, number][] = [];
  for (let at = 0; at < Math.max(ours.length, theirs.length); at++) {
    const isEmpty = ours[at] === "" && theirs[at] === "";
    const before = runs.at(-1);
    const isRun = before !== undefined && ours[before[1]] === "" && theirs[before[1]] === "";
    if (isEmpty && isRun) before[1] = at;
    else runs.push([at, at]);
  }
  return runs;
}

/** The lines of SharedKey that have no name in them. */
const LINE_NAMES = [
  ...["Method", "Content-Encoding", "Content-Language", "Content-Length", "Content-MD5"],
  ...["Content-Type", "Date", "If-Modified-Since", "If-Match", "If-None-Match"],
  ...["If-Unmodified-Since", "Range"],
];

function Line(props: { text: string | undefined; other: string | undefined; isMarked: boolean }) {
  const { text, other = "", isMarked } = props;
  if (text === undefined) return <em>no such line</em>;
  if (!isMarked) return text === "" ? <em>empty</em> : <code>{text}</code>;
  let same = 0;
  while (same < text.length && text[same] === other[same]) same++;
  return (
    <code>
      {text.slice(0, same)}
      <mark>{text.slice(same) || "(ends here)"}</mark>
    </code>
  );
}
