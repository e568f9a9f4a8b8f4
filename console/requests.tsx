import { useEffect, useRef, useState } from "preact/hooks";
import { bytesText } from "../src/base/amount-text.ts";
import type { Explained } from "../src/front/console/request-ring.ts";
import type { SeenRequest } from "../src/front/console/seen-request.ts";
import { getJson, listen } from "./api.ts";
import { msText, timeText } from "./format.ts";
import { Copy, Dialog, Empty, Facts, Problem, Rows, useLoaded } from "./parts.tsx";
import { curlOf } from "./request-curl.ts";
import { withNews } from "./request-list.ts";
import type { SignedIn } from "./signed-in.ts";
import { linkTo } from "./way.ts";

const SMB_ERROR_MIN = 0xc000_0000;

type Which = "all" | "conflicts" | "errors" | "writes";

export function RequestPage({ signedIn }: { signedIn: SignedIn }) {
  const [requests, setRequests] = useState<readonly SeenRequest[]>([]);
  /** What is shown while the list stands still; null while it follows. */
  const [paused, setPaused] = useState<readonly SeenRequest[] | null>(null);
  const [text, setText] = useState("");
  const [which, setWhich] = useState<Which>("all");
  const [opened, setOpened] = useState<SeenRequest | null>(null);
  const clearedTo = useRef(0);
  useEffect(() => {
    const add = ({ requests: news }: { requests: readonly SeenRequest[] }) =>
      setRequests((known) => withNews(known, news, clearedTo.current));
    // What came before the stream was open, or while it was broken, is asked for once it is open.
    const ask = () =>
      getJson<{ requests: readonly SeenRequest[] }>("/api/requests").then(add, () => {});
    return listen("requests", add, (isOpen) => {
      if (isOpen) void ask();
    });
  }, []);

  const isPaused = paused !== null;
  const shown = (paused ?? requests).filter((one) => isWhich(one, which) && hasText(one, text));
  return (
    <>
      <h1>Live requests</h1>
      <div class="tools">
        <label>
          Show{" "}
          <select value={which} onChange={(event) => setWhich(event.currentTarget.value as Which)}>
            <option value="all">all</option>
            <option value="conflicts">conflicts (409, 412)</option>
            <option value="errors">errors</option>
            <option value="writes">writes</option>
          </select>
        </label>
        <input
          type="search"
          placeholder="Filter by operation, path, code or address"
          aria-label="Filter by operation, path, code or address"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button
          type="button"
          aria-pressed={isPaused}
          onClick={() => setPaused(isPaused ? null : requests)}
        >
          {isPaused ? "Go on" : "Pause"}
        </button>
        <button
          type="button"
          onClick={() => {
            clearedTo.current = requests[0]?.number ?? clearedTo.current;
            setRequests([]);
            if (isPaused) setPaused([]);
          }}
        >
          Clear
        </button>
      </div>
      {shown.length === 0 ? (
        <Empty>
          {requests.length === 0
            ? "No requests since somebody signed in. They appear here as clients send them."
            : "No request fits the filter."}
        </Empty>
      ) : (
        <Rows
          label="Requests"
          isNarrow
          columns={["Operation", "Status", "Object", "Asked", "Found", "Time", "Took", "From"]}
          rows={shown}
          keyOf={({ number }) => String(number)}
          classOf={(one) => (isConflict(one) ? "conflict" : isError(one) ? "error" : "")}
          onOpen={setOpened}
          cells={(one) => [
            `${one.service} ${one.operation}`,
            <span class="status">
              {statusOf(one)} {one.code}
            </span>,
            <span title={one.target ?? ""}>{objectText(one)}</span>,
            <span title={askedOf(one)}>{askedOf(one)}</span>,
            one.etag ?? one.foundEtag,
            timeText(one.atMs),
            msText(one.tookMs),
            one.remoteAddress,
          ]}
        />
      )}
      {opened === null ? null : (
        <Details request={opened} signedIn={signedIn} onClose={() => setOpened(null)} />
      )}
    </>
  );
}

function Details(props: { request: SeenRequest; signedIn: SignedIn; onClose: () => void }) {
  const { request, signedIn, onClose } = props;
  const account = signedIn.accounts.get(request.account ?? "");
  const { value, error } = useLoaded(
    () => getJson<Explained>(`/api/explain?number=${request.number}`),
    [request.number],
  );
  const facts: [string, string | null][] = [
    ["Status", `${statusOf(request)} ${request.code ?? ""}`],
    ["Target", request.target],
    ["Asked", askedOf(request)],
    ["ETag in the answer", request.etag],
    ["ETag found", request.foundEtag],
    ["Client", `${request.remoteAddress}${request.agent === null ? "" : `, ${request.agent}`}`],
    ["Credentials", request.auth],
    ["Bytes", `${bytesText(request.requestBytes)} in, ${bytesText(request.responseBytes)} out`],
    ["Request id", request.requestId],
    ["Client request id", request.clientRequestId],
  ];
  return (
    <Dialog title={`${request.service} ${request.operation}`} onClose={onClose}>
      <Facts facts={facts} />
      {request.service !== "smb" && [401, 403].includes(request.status) ? (
        <p>
          <a href={linkTo("why", String(request.number))}>Why {request.status}?</a>
        </p>
      ) : null}
      {request.method === null ? null : (
        <p>
          <Copy
            text={() => curlOf(request, signedIn.home?.urls ?? {}, account)}
            label="Copy as curl"
          />{" "}
          <small>
            It has a SAS that ends in an hour
            {request.requestBytes > 0 ? ", and reads its body from a file named body" : ""}.
          </small>
        </p>
      )}
      <Problem error={error} />
      {value === null ? null : <Explanation explained={value} />}
    </Dialog>
  );
}

function Explanation({ explained: { request, winner, before } }: { explained: Explained }) {
  return (
    <section aria-label="Explanation">
      {isConflict(request) ? (
        <>
          <h3>Why it was refused</h3>
          <p class="explained">{reasonOf(request, winner)}</p>
        </>
      ) : null}
      {before.length === 0 ? null : (
        <>
          <h3>Before it, on the same object</h3>
          <ol class="before">
            {before.map((one) => (
              <li key={one.number} class={one.number === winner?.number ? "winner" : ""}>
                {timeText(one.atMs)} {one.operation} {statusOf(one)} {one.code ?? ""}{" "}
                {one.etag ?? ""} from {one.remoteAddress}
              </li>
            ))}
          </ol>
        </>
      )}
    </section>
  );
}

function reasonOf(request: SeenRequest, winner: SeenRequest | null): string {
  const { code, conditions } = request;
  const who =
    winner === null
      ? "a request that is no longer remembered, or that came before anybody signed in to the console"
      : `${winner.operation} from ${winner.remoteAddress}${winner.agent === null ? "" : ` (${winner.agent.split(" ")[0]})`} at ${timeText(winner.atMs)}, ${msText(Math.max(0, request.atMs - winner.atMs))} before`;
  if (code?.startsWith("Lease")) {
    const sent = request.leaseId === null ? "sent no lease id" : `sent lease id ${request.leaseId}`;
    return `The object is leased. This request ${sent}. The lease was acquired by ${who}.`;
  }
  if (request.status === 412) {
    const found = winner?.etag ?? null;
    const now = found === null ? "" : ` The ETag was ${found} by then.`;
    return `It asked for ${conditions.join(", ") || "a condition"}, which was not met.${now} The write that won: ${who}.`;
  }
  return `Another client was first: ${who}.`;
}

/** Without the account and the query, which take the space of what differs. */
function objectText({ object, account, container }: SeenRequest): string {
  if (account === null) return container ?? "";
  const name = object.slice(object.indexOf(":") + 1);
  return name.startsWith(`${account}/`) ? name.slice(`${account}/`.length) : name;
}

function isConflict({ status, code }: SeenRequest): boolean {
  return (
    status === 409 ||
    status === 412 ||
    code === "STATUS_SHARING_VIOLATION" ||
    code === "STATUS_FILE_LOCK_CONFLICT" ||
    code === "STATUS_LOCK_NOT_GRANTED" ||
    code === "STATUS_DELETE_PENDING"
  );
}

function isError({ service, status, code }: SeenRequest): boolean {
  // Some NT statuses in that range only say that there is more to come, and have no code here.
  return service === "smb" ? status >= SMB_ERROR_MIN && code !== null : status >= 400;
}

function isWhich(one: SeenRequest, which: Which): boolean {
  switch (which) {
    case "all":
      return true;
    case "conflicts":
      return isConflict(one);
    case "errors":
      return isError(one);
    case "writes":
      return one.isWrite;
  }
}

function hasText(one: SeenRequest, text: string): boolean {
  const { service, operation, target, code, remoteAddress, object } = one;
  const all = [service, operation, target, code, remoteAddress, object].join(" ").toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

function statusOf({ service, status, code }: SeenRequest): string {
  if (service !== "smb") return String(status);
  return code === null ? "ok" : "";
}

function askedOf({ conditions, leaseId }: SeenRequest): string {
  return [...conditions, ...(leaseId === null ? [] : [`lease ${leaseId}`])].join(", ");
}
