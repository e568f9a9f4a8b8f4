import { useEffect, useState } from "preact/hooks";
import { bytesText, durationText } from "../src/base/amount-text.ts";
import type { Home } from "../src/front/console/answers.ts";
import type { ConsoleAccount, Figures } from "../src/front/console/console-facts.ts";
import { listen } from "./api.ts";
import { countText } from "./format.ts";
import { Members } from "./members.tsx";
import { Copy, Facts, useNow } from "./parts.tsx";

const TITLES: Readonly<Record<string, string>> = {
  blob: "Blob",
  queue: "Queue",
  table: "Table",
  file: "File",
  dfs: "Data Lake",
  smb: "SMB",
};

export function HomePage({ home, isOperator }: { home: Home; isOperator: boolean }) {
  const now = useNow();
  return (
    <>
      <h1>Lazuli {home.version}</h1>
      <div class="cards">
        <section class="card">
          <h2>Server</h2>
          <Facts
            facts={[
              ["Runs for", durationText(now - home.startedMs)],
              ["Data", home.place ?? null],
              ...addresses(home.urls),
            ]}
          />
        </section>
        {isOperator ? <Stored first={home.figures ?? null} /> : null}
        {isOperator ? <Members /> : null}
      </div>
      {home.accounts.map((account) => (
        <AccountCard key={account.name} account={account} smb={home.urls.smb} />
      ))}
    </>
  );
}

function addresses(urls: Readonly<Record<string, string>>) {
  return Object.entries(urls).map(
    ([service, url]) => [TITLES[service] ?? service, <code>{url}</code>] as const,
  );
}

/** What is stored, as long as the page is open. */
function Stored({ first }: { first: Figures | null }) {
  const [figures, setFigures] = useState(first);
  useEffect(() => listen<Figures>("figures", setFigures), []);
  const values = figures?.values ?? {};
  const objects = Object.entries(values.lazuli_objects ?? {});
  const bytes = (name: string, label = "") => {
    const value = values[name]?.[label];
    return value === undefined ? null : bytesText(value);
  };
  return (
    <section class="card" aria-label="Stored">
      <h2>Stored</h2>
      <Facts
        facts={[
          ...objects.map(([name, count]) => [`${name}s`, countText(count)] as const),
          ["Bulk data", bytes("lazuli_extent_bytes", "live")],
          ["Garbage in it", bytes("lazuli_extent_bytes", "dead")],
          ["Records", bytes("lazuli_database_bytes")],
          ["Free in their file", bytes("lazuli_database_free_bytes")],
          ["Write-ahead log", bytes("lazuli_wal_bytes")],
          ["Free on the volume", bytes("lazuli_disk_free_bytes")],
        ]}
      />
      {objects.length === 0 ? <p class="hint">Being counted…</p> : null}
    </section>
  );
}

function AccountCard({ account, smb }: { account: ConsoleAccount; smb: string | undefined }) {
  const { name, keys, urls, connectionString } = account;
  const [isShown, setShown] = useState(false);
  const [key = ""] = keys;
  const ways: (readonly [string, string])[] = [
    ["Connection string", connectionString],
    ["az", `export AZURE_STORAGE_CONNECTION_STRING='${connectionString}'`],
    [
      "Python",
      `from azure.storage.blob import BlobServiceClient\nclient = BlobServiceClient.from_connection_string("${connectionString}")`,
    ],
    [".NET", `var client = new BlobServiceClient("${connectionString}");`],
    ...(smb === undefined ? [] : mounts(smb, name, key)),
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
      <Facts facts={addresses(urls)} />
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

/** How operating systems reach a share. */
function mounts(smb: string, user: string, key: string): (readonly [string, string])[] {
  const [, host = "", port = ""] = /^smb:\/\/(.*):(\d+)$/.exec(smb) ?? [];
  const terms = `port=${port},username=${user},password='${key}',vers=3.1.1,serverino,nosharesock`;
  return [
    ["Linux mount", `sudo mount -t cifs //${host}/<share> /mnt -o ${terms}`],
    ["smbclient", `smbclient //${host}/<share> -p ${port} -U '${user}%${key}'`],
    [
      "Windows (11 24H2 or later)",
      `net use Z: \\\\${host}\\<share> /tcpport:${port} /user:AZURE\\${user} ${key}`,
    ],
  ];
}
