import { useEffect, useState } from "preact/hooks";
import { bytesText, durationText } from "../src/base/amount-text.ts";
import type { Home } from "../src/front/console/answers.ts";
import type { ConsoleAccount, Figures } from "../src/front/console/console-facts.ts";
import { countText } from "./format.ts";
import { Members } from "./members.tsx";
import { Copy } from "./parts.tsx";

const TITLES: Readonly<Record<string, string>> = {
  blob: "Blob",
  queue: "Queue",
  table: "Table",
  file: "File",
  dfs: "Data Lake",
  smb: "SMB",
};

export function HomePage({ home, isOperator }: { home: Home; isOperator: boolean }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1000);
    return () => clearInterval(timer);
  }, []);
  return (
    <>
      <h1>Lazuli {home.version}</h1>
      <div class="cards">
        <section class="card">
          <h2>Server</h2>
          <dl>
            <dt>Runs for</dt>
            <dd>{durationText(now - home.startedMs)}</dd>
            {home.place === undefined ? null : (
              <>
                <dt>Data</dt>
                <dd class="wrap">{home.place}</dd>
              </>
            )}
            {Object.entries(home.urls).map(([service, url]) => (
              <>
                <dt key={`${service} title`}>{TITLES[service] ?? service}</dt>
                <dd key={service}>
                  <code>{url}</code>
                </dd>
              </>
            ))}
          </dl>
        </section>
        {home.figures === undefined ? null : <Stored figures={home.figures} />}
        {isOperator ? <Members /> : null}
      </div>
      {home.accounts.map((account) => (
        <AccountCard key={account.name} account={account} smb={home.urls.smb} />
      ))}
    </>
  );
}

function Stored({ figures: { values } }: { figures: Figures }) {
  const objects = Object.entries(values.lazuli_objects ?? {});
  const one = (name: string, label = "") => values[name]?.[label];
  const space: [string, number | undefined][] = [
    ["Bulk data", one("lazuli_extent_bytes", "live")],
    ["To be reclaimed", one("lazuli_extent_bytes", "dead")],
    ["Records", one("lazuli_database_bytes")],
    ["Log", one("lazuli_wal_bytes")],
    ["Free on the volume", one("lazuli_disk_free_bytes")],
  ];
  return (
    <section class="card">
      <h2>Stored</h2>
      <dl>
        {objects.map(([name, count]) => (
          <>
            <dt key={`${name} title`}>{name.replaceAll("_", " ")}</dt>
            <dd key={name}>{countText(count)}</dd>
          </>
        ))}
        {space.map(([name, bytes]) =>
          bytes === undefined ? null : (
            <>
              <dt key={`${name} title`}>{name}</dt>
              <dd key={name}>{bytesText(bytes)}</dd>
            </>
          ),
        )}
      </dl>
      {objects.length === 0 ? <p class="hint">Being counted…</p> : null}
    </section>
  );
}

function AccountCard({ account, smb }: { account: ConsoleAccount; smb: string | undefined }) {
  const { name, keys, urls, connectionString } = account;
  const [isShown, setShown] = useState(false);
  const [key = ""] = keys;
  const [, host = "", port = ""] = /^smb:\/\/(.*):(\d+)$/.exec(smb ?? "") ?? [];
  const ways: [string, string][] = [
    ["Connection string", connectionString],
    ["az", `export AZURE_STORAGE_CONNECTION_STRING='${connectionString}'`],
    [
      "Python",
      `from azure.storage.blob import BlobServiceClient\nclient = BlobServiceClient.from_connection_string("${connectionString}")`,
    ],
    [".NET", `var client = new BlobServiceClient("${connectionString}");`],
    ...(smb === undefined
      ? []
      : [
          [
            "Linux mount",
            `sudo mount -t cifs //${host}/<share> /mnt -o port=${port},username=${name},password='${key}',vers=3.1.1,serverino,nosharesock`,
          ] as [string, string],
        ]),
  ];
  const shown = (text: string) => (isShown ? text : text.replaceAll(key, "•••"));
  return (
    <section class="card" aria-label={`Account ${name}`}>
      <header>
        <h2>{name}</h2>
        <button type="button" class="small" onClick={() => setShown(!isShown)}>
          {isShown ? "Hide keys" : "Show keys"}
        </button>
      </header>
      <dl>
        {Object.entries(urls).map(([service, url]) => (
          <>
            <dt key={`${service} title`}>{TITLES[service] ?? service}</dt>
            <dd key={service}>
              <code>{url}</code>
            </dd>
          </>
        ))}
      </dl>
      {ways.map(([title, text]) => (
        <div class="way" key={title}>
          <h3>{title}</h3>
          <Copy
            text={text}
            label={`Copy ${title === "Connection string" ? "connection string" : `for ${title}`}`}
          />
          <pre class="code">{shown(text)}</pre>
        </div>
      ))}
    </section>
  );
}
