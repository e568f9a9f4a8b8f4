import { useEffect, useState } from "preact/hooks";
import { durationText } from "../src/base/amount-text.ts";
import type { MemberFacts } from "../src/front/console/console-facts.ts";
import { getJson } from "./api.ts";
import { Problem } from "./parts.tsx";

const AGAIN_MS = 5_000;

/** The servers of a cluster, asked again while the page is open. Nothing for a server alone. */
export function Members() {
  const [members, setMembers] = useState<readonly MemberFacts[] | null>(null);
  const [error, setError] = useState<unknown>(null);
  useEffect(() => {
    let timer: ReturnType<typeof setTimeout> | undefined;
    let isOver = false;
    const ask = async () => {
      try {
        const found = await getJson<{ members: readonly MemberFacts[] | null }>("/api/members");
        if (isOver) return;
        setMembers(found.members);
        setError(null);
        // A server alone stays alone.
        if (found.members === null) return;
      } catch (failure) {
        if (isOver) return;
        setError(failure);
      }
      timer = setTimeout(ask, AGAIN_MS);
    };
    void ask();
    return () => {
      isOver = true;
      clearTimeout(timer);
    };
  }, []);
  if (members === null) return <Problem error={error} />;
  return (
    <section class="card" aria-label="Cluster">
      <h2>Cluster</h2>
      <Problem error={error} />
      <table class="fields order">
        <thead>
          <tr>
            <th scope="col">Server</th>
            <th scope="col">Address</th>
            <th scope="col">Heartbeat</th>
          </tr>
        </thead>
        <tbody>
          {members.map((one) => (
            <tr key={`${one.database} ${one.number}`}>
              <th scope="row">
                {one.name === "" ? `number ${one.number}` : one.name}
                <small>
                  {[one.isThis ? "this one" : "", one.isLeader ? "leads" : "", one.database ?? ""]
                    .filter((text) => text !== "")
                    .join(", ")}
                </small>
              </th>
              <td>
                <code>{one.address || "not yet"}</code>
              </td>
              <td>{durationText(one.heartbeatAgeMs)} ago</td>
            </tr>
          ))}
        </tbody>
      </table>
    </section>
  );
}
