import { BlobList } from "./browse-blobs.tsx";
import { Containers, KINDS, type Kind } from "./browse-containers.tsx";
import { QueueView } from "./browse-queue.tsx";
import { ShareView } from "./browse-share.tsx";
import { TableView } from "./browse-table.tsx";
import { Empty } from "./parts.tsx";
import type { SignedIn } from "./signed-in.ts";
import type { Account } from "./storage.ts";
import { linkTo } from "./way.ts";

/** `#/browse/<account>/<kind>/<container>/<path>` */
export function Browse({ way, signedIn }: { way: readonly string[]; signedIn: SignedIn }) {
  const names = [...signedIn.accounts.keys()];
  const [name = names[0] ?? "", kindName = "blobs", container = "", ...path] = way;
  const account = signedIn.accounts.get(name);
  const kind = (kindName in KINDS ? kindName : "blobs") as Kind;
  if (account === undefined) return <Empty>There is no account {name}.</Empty>;
  return (
    <>
      <h1>Browse</h1>
      <div class="tools">
        <label>
          Account{" "}
          <select
            value={name}
            onChange={(event) => {
              location.hash = linkTo("browse", event.currentTarget.value, kind);
            }}
          >
            {names.map((one) => (
              <option key={one}>{one}</option>
            ))}
          </select>
        </label>
      </div>
      <nav class="tabs" aria-label="Services">
        {Object.entries(KINDS).map(([one, { title }]) => (
          <a
            key={one}
            href={linkTo("browse", name, one)}
            aria-current={one === kind ? "page" : undefined}
          >
            {title}
          </a>
        ))}
      </nav>
      {container === "" ? (
        <Containers key={`${name} ${kind}`} account={account} kind={kind} />
      ) : (
        <Inside
          key={`${name} ${kind} ${container}`}
          account={account}
          kind={kind}
          container={container}
          path={path.join("/")}
          hasApi={signedIn.home !== null}
        />
      )}
    </>
  );
}

function Inside(props: {
  account: Account;
  kind: Kind;
  container: string;
  path: string;
  hasApi: boolean;
}) {
  const { account, kind, container, path, hasApi } = props;
  switch (kind) {
    case "blobs":
      return <BlobList account={account} container={container} prefix={path} />;
    case "queues":
      return <QueueView account={account} queue={container} hasApi={hasApi} />;
    case "tables":
      return <TableView account={account} table={container} />;
    case "shares":
      return <ShareView account={account} share={container} path={path} hasApi={hasApi} />;
  }
}
