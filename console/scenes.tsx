import { useState } from "preact/hooks";
import type { Home, LabScenes, SceneList } from "../src/front/console/answers.ts";
import type { PlayedScene } from "../src/front/console/console-facts.ts";
import { getJson, postJson } from "./api.ts";
import { Choice, Field } from "./field.tsx";
import { Empty, Problem, useLoaded } from "./parts.tsx";

/** Plays conflicts of n clients against this server, and draws them. */
export function ScenePage({ home }: { home: Home }) {
  const { value: list, error } = useLoaded(() => getJson<SceneList>("/api/scenes"), []);
  return (
    <>
      <h1>Scenes</h1>
      <Problem error={error} />
      {list === null ? null : list.scenes === null ? (
        <Empty>
          Scenes are played in the lab, and this server has none. Start it with <code>--lab</code>,
          which tests use to move its clock and to make requests fail: <code>lazuli --lab</code>
        </Empty>
      ) : (
        <Scenes list={list} home={home} />
      )}
    </>
  );
}

function Scenes({ list, home }: { list: LabScenes; home: Home }) {
  const { scenes, clientsMin, clientsMax } = list;
  const [name, setName] = useState(scenes[0]?.name ?? "");
  const [clients, setClients] = useState(3);
  const [account, setAccount] = useState(home.accounts[0]?.name ?? "");
  const [played, setPlayed] = useState<PlayedScene | null>(null);
  const [error, setError] = useState<unknown>(null);
  const [isBusy, setBusy] = useState(false);
  const play = async () => {
    setBusy(true);
    try {
      setPlayed(await postJson<PlayedScene>("/api/scenes", { name, clients, account }));
      setError(null);
    } catch (failure) {
      setPlayed(null);
      setError(failure);
    } finally {
      setBusy(false);
    }
  };
  return (
    <>
      <form
        class="card"
        aria-label="Play a scene"
        onSubmit={(event) => {
          event.preventDefault();
          void play();
        }}
      >
        <Choice
          label="Scene"
          value={name}
          options={scenes.map((one) => [one.name, one.title] as const)}
          onChange={setName}
        />
        <div class="form">
          <Field
            label="Clients"
            hint={`${clientsMin} to ${clientsMax}`}
            control={(ids) => (
              <input
                {...ids}
                type="number"
                min={clientsMin}
                max={clientsMax}
                value={clients}
                onInput={(event) => setClients(event.currentTarget.valueAsNumber)}
              />
            )}
          />
          <Choice
            label="Account"
            hint="What the scene makes there is removed afterwards."
            value={account}
            options={home.accounts.map((one) => [one.name, one.name] as const)}
            onChange={setAccount}
          />
        </div>
        <div class="actions">
          <button type="submit" class="primary" disabled={isBusy}>
            {isBusy ? "Playing…" : "Play"}
          </button>
        </div>
      </form>
      <Problem error={error} />
      {played === null ? (
        <Empty>
          Choose a scene and play it: real requests run against this server, and every bar below is
          one of them.
        </Empty>
      ) : (
        <Played played={played} name={name} />
      )}
    </>
  );
}

function Played({ played, name }: { played: PlayedScene; name: string }) {
  const { title, svg, objects } = played;
  const image = `data:image/svg+xml,${encodeURIComponent(svg)}`;
  return (
    <section class="card" aria-label="What happened">
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a box that scrolls can be scrolled by keys. */}
      <section class="lanes" aria-label="Swim lanes" tabIndex={0}>
        <img src={image} alt={`${title}. The tables below say the same.`} />
      </section>
      <p>
        <a href={image} download={`${name}.svg`}>
          Save as SVG
        </a>
      </p>
      {objects.map((one) => (
        <ObjectTable key={one.object} played={one} />
      ))}
    </section>
  );
}

function ObjectTable({ played }: { played: PlayedScene["objects"][number] }) {
  const { object, verdict, why, operations } = played;
  const sorted = operations.toSorted(
    (one, other) => (one.order ?? Infinity) - (other.order ?? Infinity),
  );
  return (
    <>
      <h3>{object}</h3>
      <p class={verdict === "explained" ? "good" : "explained"}>
        {verdict === "explained"
          ? "The checker found an order, one at a time, that explains every answer:"
          : `${verdict}: ${why}`}
      </p>
      <table class="fields order">
        <thead>
          <tr>
            <th scope="col">Order</th>
            <th scope="col">Client</th>
            <th scope="col">Did</th>
            <th scope="col">Came of it</th>
          </tr>
        </thead>
        <tbody>
          {sorted.map((one, at) => (
            <tr key={at} class={(one.status ?? 0) >= 300 ? "lost" : ""}>
              <th scope="row">{one.order ?? "–"}</th>
              <td>{one.client}</td>
              <td>{one.verb}</td>
              <td>{cameOf(one)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </>
  );
}

type Operation = PlayedScene["objects"][number]["operations"][number];

function cameOf({ status, code, verb }: Operation): string {
  if (status === null || status >= 500) return "unknown";
  if (status >= 300) return `lost: ${status} ${code ?? ""}`.trim();
  const isRead = verb === "get" || verb === "peek";
  return `${isRead ? "read" : "won"}: ${status}`;
}
