import { useState } from "preact/hooks";
import { Crumbs } from "./crumbs.tsx";
import { countText, dateText } from "./format.ts";
import { HiddenMessages } from "./hidden-messages.tsx";
import { Confirm, Empty, Problem, Rows, useLoaded } from "./parts.tsx";
import type { Account } from "./storage.ts";
import { elements, escapeXml, textAt } from "./xml.ts";

/** The most that the service returns. */
const PEEKED_MAX = "32";

interface Message {
  readonly id: string;
  readonly text: string;
  readonly inserted: string;
  readonly expires: string;
  readonly dequeueCount: string;
}

/** Peeks at a queue, which changes nothing for its clients. */
export function QueueView(props: { account: Account; queue: string; hasApi: boolean }) {
  const { account, queue, hasApi } = props;
  const [text, setText] = useState("");
  const [problem, setProblem] = useState<unknown>(null);
  const [isClearing, setClearing] = useState(false);
  const { value, error, reload } = useLoaded(() => peek(account, queue), [account.name, queue]);
  const put = async (event: Event) => {
    event.preventDefault();
    try {
      await account.ask({
        service: "queue",
        method: "POST",
        path: [queue, "messages"],
        headers: { "content-type": "application/xml" },
        body: `<QueueMessage><MessageText>${escapeXml(text)}</MessageText></QueueMessage>`,
      });
      setText("");
      setProblem(null);
      reload();
    } catch (failure) {
      setProblem(failure);
    }
  };
  return (
    <>
      <Crumbs
        way={[
          ["queues", [account.name, "queues"]],
          [queue, [account.name, "queues", queue]],
        ]}
      />
      <form class="tools" onSubmit={put}>
        <input
          placeholder="Text of a new message"
          aria-label="Text of a new message"
          value={text}
          onInput={(event) => setText(event.currentTarget.value)}
        />
        <button type="submit" disabled={text === ""}>
          Put message
        </button>
        <button type="button" onClick={reload}>
          Refresh
        </button>
        <button type="button" class="danger" onClick={() => setClearing(true)}>
          Clear queue
        </button>
      </form>
      <Problem error={problem ?? error} />
      {value === null ? null : (
        <>
          <p class="hint">
            About {countText(value.count)} messages. The first {value.messages.length} visible ones
            are shown{hasApi ? ", then hidden ones." : ". A SAS cannot see hidden ones."}
          </p>
          {value.messages.length === 0 ? (
            <Empty>No message is visible. Put one above, or wait for a hidden one to return.</Empty>
          ) : (
            <Rows
              label="Messages"
              columns={["Text", "Dequeued", "Put", "Expires", "Id"]}
              rows={value.messages}
              keyOf={({ id }) => id}
              cells={(message) => [
                <span title={message.text}>{message.text}</span>,
                message.dequeueCount,
                dateText(message.inserted),
                dateText(message.expires),
                message.id,
              ]}
            />
          )}
        </>
      )}
      {hasApi ? <HiddenMessages account={account} queue={queue} onChange={reload} /> : null}
      {isClearing ? (
        <Confirm
          title={`Clear ${queue}`}
          action="Clear"
          onClose={() => setClearing(false)}
          onConfirm={async () => {
            await account.ask({ service: "queue", method: "DELETE", path: [queue, "messages"] });
            reload();
          }}
        >
          <p>All messages go, also those that clients are working on.</p>
        </Confirm>
      ) : null}
    </>
  );
}

async function peek(account: Account, queue: string) {
  const at = { service: "queue" } as const;
  const metadata = await account.ask({ ...at, path: [queue], query: { comp: "metadata" } });
  const answer = await account.ask({
    ...at,
    path: [queue, "messages"],
    query: { peekonly: "true", numofmessages: PEEKED_MAX },
  });
  const messages = elements(await answer.xml(), "QueueMessage").map(
    (found): Message => ({
      id: textAt(found, "MessageId"),
      text: textAt(found, "MessageText"),
      inserted: textAt(found, "InsertionTime"),
      expires: textAt(found, "ExpirationTime"),
      dequeueCount: textAt(found, "DequeueCount"),
    }),
  );
  return { messages, count: Number(metadata.header("x-ms-approximate-messages-count")) };
}
