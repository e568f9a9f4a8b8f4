import { useState } from "preact/hooks";
import { AccessControlDialog } from "./access-control.tsx";
import { Confirm, Dialog, Problem, useLoaded } from "./parts.tsx";
import type { Account } from "./storage.ts";
import { linkTo } from "./way.ts";

/** Whether a container has directories of its own. */
export function useIsHierarchical(account: Account, container: string): boolean {
  const { value } = useLoaded(async () => {
    const query = { resource: "filesystem" };
    // The Blob port answers it, too, so that it is there even if Data Lake is not served.
    const answer = await account.ask({ service: "blob", method: "HEAD", path: [container], query });
    return answer.header("x-ms-namespace-enabled") === "true";
  }, [account.name, container]);
  return value ?? false;
}

/** What only directories of a hierarchical container have: access control, rename, delete as one. */
export function DirectoryTools(props: {
  account: Account;
  container: string;
  /** "" for the root directory. */
  path: string;
  onChange: () => void;
}) {
  const { account, container, path, onChange } = props;
  const [asked, setAsked] = useState<"access" | "create" | "rename" | "delete" | null>(null);
  const close = () => setAsked(null);
  const at = { service: "dfs", path: [container, path] } as const;
  const go = (to: string) => {
    location.hash = linkTo("browse", account.name, "blobs", container, ...partsOf(to));
  };
  const create = async (name: string) => {
    const made = path === "" ? name : `${path}/${name}`;
    const query = { resource: "directory" };
    const headers = { "if-none-match": "*" };
    await account.ask({ ...at, method: "PUT", path: [container, made], query, headers });
    onChange();
  };
  const rename = async (to: string) => {
    const source = [container, ...partsOf(path)].map(encodeURIComponent).join("/");
    const headers = { "x-ms-rename-source": `/${source}`, "if-none-match": "*" };
    await account.ask({ ...at, method: "PUT", path: [container, to], headers });
    go(to);
  };
  return (
    <>
      <div class="tools">
        <button type="button" onClick={() => setAsked("access")}>
          Access control
        </button>
        <button type="button" onClick={() => setAsked("create")}>
          Create directory
        </button>
        {path === "" ? null : (
          <>
            <button type="button" onClick={() => setAsked("rename")}>
              Rename directory
            </button>
            <button type="button" class="danger" onClick={() => setAsked("delete")}>
              Delete directory
            </button>
          </>
        )}
      </div>
      {asked === "access" ? (
        <AccessControlDialog {...{ account, container, path }} isDirectory onClose={close} />
      ) : null}
      {asked === "create" ? (
        <AskName
          title="Create directory"
          label="Name of the directory"
          first=""
          onName={create}
          onClose={close}
        />
      ) : null}
      {asked === "rename" ? (
        <AskName
          title="Rename directory"
          label="New path in the container"
          first={path}
          onName={rename}
          onClose={close}
        />
      ) : null}
      {asked === "delete" ? (
        <Confirm
          title={`Delete ${path}`}
          action="Delete"
          onClose={close}
          onConfirm={async () => {
            await account.ask({ ...at, method: "DELETE", query: { recursive: "true" } });
            go(partsOf(path).slice(0, -1).join("/"));
          }}
        >
          <p>The directory goes in one step, with everything in it, for all clients at once.</p>
        </Confirm>
      ) : null}
    </>
  );
}

function AskName(props: {
  title: string;
  label: string;
  first: string;
  onName: (name: string) => Promise<void>;
  onClose: () => void;
}) {
  const [name, setName] = useState(props.first);
  const [problem, setProblem] = useState<unknown>(null);
  return (
    <Dialog title={props.title} onClose={props.onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          props.onName(name).then(props.onClose, setProblem);
        }}
      >
        <label>
          {props.label}
          <input value={name} onInput={(event) => setName(event.currentTarget.value)} />
        </label>
        <Problem error={problem} />
        <div class="actions">
          <button type="submit" class="primary" disabled={name === "" || name === props.first}>
            {props.title}
          </button>
        </div>
      </form>
    </Dialog>
  );
}

function partsOf(path: string): string[] {
  return path.split("/").filter((part) => part !== "");
}
