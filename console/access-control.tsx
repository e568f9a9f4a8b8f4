import { useState } from "preact/hooks";
import { Dialog, Problem, useLoaded } from "./parts.tsx";
import type { Account } from "./storage.ts";

interface AccessControl {
  readonly owner: string;
  readonly group: string;
  readonly permissions: string;
  /** An entry in each line: `user::rwx`. */
  readonly acl: string;
  readonly etag: string;
  /** Tells one reading from another: not every change has a new ETag. */
  readonly readMs: number;
}

/** Owner, group, permissions and ACL of a path in a hierarchical container. */
export function AccessControlDialog(props: {
  account: Account;
  container: string;
  /** "" for the root directory. */
  path: string;
  isDirectory: boolean;
  onClose: () => void;
}) {
  const { account, container, path, isDirectory, onClose } = props;
  const { value: first, error } = useLoaded(() => read(account, container, path), [path]);
  // What came of a change is told together with what is there now: the form begins anew with that.
  const [done, setDone] = useState<{ told: string; value: AccessControl } | null>(null);
  const value = done?.value ?? first;
  return (
    <Dialog title={`Access control of ${path === "" ? "/" : path}`} onClose={onClose}>
      <Problem error={error} />
      {value === null ? null : (
        <Editor
          key={value.readMs}
          account={account}
          container={container}
          path={path}
          isDirectory={isDirectory}
          known={value}
          onDone={async (told) => setDone({ told, value: await read(account, container, path) })}
        />
      )}
      <p role="status" class="hint">
        {done?.told}
      </p>
    </Dialog>
  );
}

function Editor(props: {
  account: Account;
  container: string;
  path: string;
  isDirectory: boolean;
  known: AccessControl;
  onDone: (told: string) => Promise<void>;
}) {
  const { account, container, path, isDirectory, known, onDone } = props;
  const [edited, setEdited] = useState(known);
  const [problem, setProblem] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const at = { service: "dfs", method: "PATCH", path: [container, path] } as const;
  const act = async (work: () => Promise<string>) => {
    setBusy(true);
    setProblem(null);
    try {
      await onDone(await work());
    } catch (failure) {
      setProblem(failure);
    }
    setBusy(false);
  };
  const save = () =>
    act(async () => {
      await account.ask({
        ...at,
        query: { action: "setAccessControl" },
        headers: { ...changes(known, edited), "if-match": known.etag },
      });
      return "Saved.";
    });
  const saveBelow = () =>
    act(async () => {
      const { paths, failures } = await setBelow(account, at, aclHeader(edited.acl));
      return `${paths} paths changed, ${failures} refused.`;
    });
  const field = (name: "owner" | "group" | "permissions", title: string) => (
    <label>
      {title}
      <input
        value={edited[name]}
        onInput={(event) => setEdited({ ...edited, [name]: event.currentTarget.value })}
      />
    </label>
  );
  const hasChanged = Object.keys(changes(known, edited)).length > 0;
  return (
    <fieldset class="bare" disabled={isBusy}>
      <div class="form">
        {field("owner", "Owner")}
        {field("group", "Owning group")}
        {field("permissions", "Permissions (rwxr-x--- or 0750)")}
      </div>
      <label>
        ACL, an entry in each line: <code>user:&lt;object id&gt;:r-x</code>
        {isDirectory ? (
          <>
            , and <code>default:…</code> for what will be created in it
          </>
        ) : null}
        <textarea
          rows={6}
          value={edited.acl}
          onInput={(event) => setEdited({ ...edited, acl: event.currentTarget.value })}
        />
      </label>
      <p class="hint">
        Tokens of users are judged by it; account keys and SAS of an account are not. Saved only if
        nobody has changed the path since it was opened here.
      </p>
      <Problem error={problem} />
      <div class="actions">
        {isDirectory ? (
          <button type="button" onClick={saveBelow}>
            Add the ACL's entries to everything below
          </button>
        ) : null}
        <button type="button" class="primary" disabled={!hasChanged} onClick={save}>
          Save
        </button>
      </div>
    </fieldset>
  );
}

async function read(account: Account, container: string, path: string): Promise<AccessControl> {
  const answer = await account.ask({
    service: "dfs",
    method: "HEAD",
    path: [container, path],
    query: { action: "getAccessControl" },
  });
  return {
    owner: answer.header("x-ms-owner"),
    group: answer.header("x-ms-group"),
    permissions: answer.header("x-ms-permissions"),
    acl: answer.header("x-ms-acl").replaceAll(",", "\n"),
    etag: answer.header("etag"),
    readMs: performance.now(),
  };
}

/** Only what was edited is sent. The service refuses an ACL and permissions in one request. */
function changes(known: AccessControl, edited: AccessControl): Record<string, string> {
  return {
    ...(edited.owner === known.owner ? {} : { "x-ms-owner": edited.owner }),
    ...(edited.group === known.group ? {} : { "x-ms-group": edited.group }),
    ...(edited.permissions === known.permissions ? {} : { "x-ms-permissions": edited.permissions }),
    ...(edited.acl === known.acl ? {} : { "x-ms-acl": aclHeader(edited.acl) }),
  };
}

function aclHeader(text: string): string {
  const lines = text.split("\n").map((line) => line.trim());
  return lines.filter((line) => line !== "").join(",");
}

/** Changes a directory and everything below it, in as many requests as it takes. */
async function setBelow(
  account: Account,
  at: { service: "dfs"; method: "PATCH"; path: readonly string[] },
  acl: string,
): Promise<{ paths: number; failures: number }> {
  let paths = 0;
  let failures = 0;
  const query = { action: "setAccessControlRecursive", mode: "modify", forceflag: "true" };
  for (let continuation = ""; ; ) {
    const answer = await account.ask({
      ...at,
      query: { ...query, ...(continuation === "" ? {} : { continuation }) },
      headers: { "x-ms-acl": acl },
    });
    const done = await answer.json<Record<string, number>>();
    paths += (done.directoriesSuccessful ?? 0) + (done.filesSuccessful ?? 0);
    failures += done.failureCount ?? 0;
    continuation = answer.header("x-ms-continuation");
    if (continuation === "") return { paths, failures };
  }
}
