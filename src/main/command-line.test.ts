import assert from "node:assert/strict";
import { test } from "node:test";
import { type Options, readCommandLine } from "./command-line.ts";
import { PROGRAMS, type ProgramName } from "./programs.ts";
import { StartError } from "./start-error.ts";

function options(line: string, env: Record<string, string> = {}): Options {
  const asked = readCommandLine(line.split(" ").filter(Boolean), env);
  assert.equal(asked.kind, "start");
  return (asked as Extract<typeof asked, { kind: "start" }>).options;
}

function refusal(line: string, env: Record<string, string> = {}): string {
  let message = "";
  assert.throws(
    () => readCommandLine(line.split(" ").filter(Boolean), env),
    (error) => {
      assert.ok(error instanceof StartError);
      assert.equal(error.exitCode, 2);
      message = error.message;
      return true;
    },
    line,
  );
  assert.ok(!message.includes("\n"), "a refusal is one line");
  return message;
}

test("without flags the defaults are Azurite's ports, loopback, and our own folder", () => {
  const { listen, location, silent } = options("");
  assert.equal(location, "lazuli-data");
  assert.equal(silent, false);
  const places = Object.entries(listen).map(([name, { host, port }]) => `${name} ${host}:${port}`);
  assert.deepEqual(places, [
    "blob 127.0.0.1:10000",
    "queue 127.0.0.1:10001",
    "table 127.0.0.1:10002",
    "file 127.0.0.1:10003",
    "dfs 127.0.0.1:10004",
    "smb 127.0.0.1:10445",
  ]);
});

test("every flag of an Azurite command line is understood", () => {
  const found = options(
    "-s -l data -d debug.log -L --blobPort 7777 --blobHost 0.0.0.0 --queuePort=8888 " +
      "--queueHost 0.0.0.0 --tablePort 9999 --tableHost ::1 --blobKeepAliveTimeout 90 " +
      "--queueKeepAliveTimeout 5 --tableKeepAliveTimeout 0 --skipApiVersionCheck " +
      "--disableProductStyleUrl --disableTelemetry --cert c.pem --key k.pem --pwd x --oauth basic",
  );
  assert.equal(found.location, "data");
  assert.equal(found.debugFile, "debug.log");
  assert.deepEqual(found.listen.blob, { host: "0.0.0.0", port: 7777, keepAliveMs: 90_000 });
  assert.deepEqual(found.listen.queue, { host: "0.0.0.0", port: 8888, keepAliveMs: 5_000 });
  assert.deepEqual(found.listen.table, { host: "::1", port: 9999, keepAliveMs: 0 });
  assert.deepEqual(found.certificate, { cert: "c.pem", key: "k.pem", password: "x" });
  assert.equal(found.silent && found.pathStyleOnly && found.oauthBasic, true);
});

test("every service has its own flags", () => {
  const { listen } = options("start --filePort 1 --dfsPort 2 --smbPort 3 --smbEncryption required");
  assert.deepEqual([listen.file.port, listen.dfs.port, listen.smb.port], [1, 2, 3]);
});

test("our own listener is the default, and --listener node selects Node's", () => {
  assert.equal(options("").listener, "own");
  assert.equal(options("--listener node").listener, "node");
});

test("metrics are off without a port, and stay on loopback unless their own host is given", () => {
  assert.equal(options("").metrics, null);
  const loopback = { host: "127.0.0.1", port: 9464 };
  assert.deepEqual(options("--metricsPort 9464 --host 10.1.2.3").metrics, loopback);
  const given = options("--metricsPort 0 --metricsHost 10.1.2.3").metrics;
  assert.deepEqual(given, { host: "10.1.2.3", port: 0 });
});

test("the console is on loopback, except where nobody asked for another port", () => {
  const usual = { host: "127.0.0.1", port: 10_005, isAnyPort: true };
  assert.deepEqual(options("--host 10.1.2.3").console, usual);
  const given = { host: "127.0.0.1", port: 9, isAnyPort: false };
  assert.deepEqual(options("--consolePort 9").console, given);
  assert.equal(options("--noConsole").console, null);
  assert.equal(options("--silent").console, null);
  assert.deepEqual(options("--silent --consolePort 9").console, given);
  const beyond = options("--consoleHost 0.0.0.0 --cert c.pem --key k.pem").console;
  assert.deepEqual(beyond, { ...usual, host: "0.0.0.0" });
  const azurite = (line: string) => {
    const asked = readCommandLine(line.split(" ").filter(Boolean), {}, PROGRAMS.azurite);
    return asked.kind === "start" ? asked.options.console : undefined;
  };
  assert.equal(azurite(""), null);
  assert.deepEqual(azurite("--consolePort 9"), given);
});

test("--host is for all services, and a service's own flag overrides it", () => {
  const { listen } = options("--host ::1 --queueHost 127.0.0.2");
  assert.equal(listen.blob.host, "::1");
  assert.equal(listen.queue.host, "127.0.0.2");
});

test("in memory there is no folder, and a limit may be set", () => {
  const found = options("--inMemoryPersistence --extentMemoryLimit 2");
  assert.equal(found.location, null);
  assert.equal(found.memoryBytesMax, 2 * 1024 * 1024);
});

test("the last one of a repeated flag counts", () => {
  assert.equal(options("--blobPort 1 --blobPort 2").listen.blob.port, 2);
});

test("--help and --version override everything after them", () => {
  assert.equal(readCommandLine(["--silent", "-h"], {}).kind, "help");
  assert.equal(readCommandLine(["--version"], { AZURITE_DB: "x" }).kind, "version");
});

test("a flag without effect is explained only if users may rely on it", () => {
  const asked = readCommandLine(["--loose", "--disableTelemetry", "--skipApiVersionCheck"], {});
  assert.equal(asked.kind, "start");
  assert.deepEqual(asked.kind === "start" && asked.notes, [
    "--loose has no effect: what is not supported is refused by name.",
  ]);
});

test("AZURITE_ACCOUNTS is passed on; AZURITE_DB is refused, with advice", () => {
  assert.equal(options("", { AZURITE_ACCOUNTS: "a:YQ==" }).accountList, "a:YQ==");
  assert.equal(options("", { AZURITE_ACCOUNTS: "", AZURITE_DB: "" }).accountList, null);
  assert.match(refusal("", { AZURITE_DB: "mysql://x" }), /Unset AZURITE_DB.*--location/);
});

test("verify takes the data folder, and no flags for serving", () => {
  const verify = { kind: "verify", asked: { location: "here", shared: null } };
  assert.deepEqual(readCommandLine(["verify", "-l", "here"], {}), verify);
  const byDefault = { kind: "verify", asked: { location: "lazuli-data", shared: null } };
  assert.deepEqual(readCommandLine(["verify"], {}), byDefault);
});

test("a command works on shared records if they are named, unless it names a folder", () => {
  const sharedOf = (args: string, env: Record<string, string> = {}) => {
    const asked = readCommandLine(args.split(" "), env);
    return asked.kind === "usage" ? asked.asked.shared : assert.fail();
  };
  assert.equal(sharedOf("usage"), null);
  assert.equal(sharedOf("usage --records postgres://a/b")?.records, "postgres://a/b");
  assert.equal(sharedOf("usage --config c --database east")?.database, "east");
  const env = { LAZULI_RECORDS: "postgres://a/b" };
  assert.equal(sharedOf("usage", env)?.records, "postgres://a/b");
  assert.equal(sharedOf("usage --location here", env), null);
});

test("--help behind a command is about that command, or about all that begin so", () => {
  const topicOf = (...args: string[]) => readCommandLine([...args, "--help"], {});
  assert.deepEqual(topicOf(), { kind: "help", topic: null });
  assert.deepEqual(topicOf("start"), { kind: "help", topic: null });
  assert.deepEqual(topicOf("verify"), { kind: "help", topic: "verify" });
  assert.deepEqual(topicOf("account"), { kind: "help", topic: "account" });
  assert.deepEqual(topicOf("account", "add", "x"), { kind: "help", topic: "account add" });
});

test("--services chooses among the services of the program, in any order", () => {
  assert.deepEqual(options("--services queue,blob").services, ["blob", "queue"]);
  assert.deepEqual(options("--services smb --smbPort 1").services, ["smb"]);
  assert.equal(options("--services blob --blobPort 10003").listen.blob.port, 10003);
  const azurite = (...args: string[]) => readCommandLine(args, {}, PROGRAMS.azurite);
  const asked = azurite("--services", "queue");
  assert.deepEqual(asked.kind === "start" && asked.options.services, ["queue"]);
  assert.throws(() => azurite("--services", "file"), /knows no service "file".*has blob, queue, t/);
});

test("an account command takes a name, the configuration file and its own flags", () => {
  const read = (line: string) => {
    const asked = readCommandLine(line.split(" "), {});
    return asked.kind === "account" ? asked.asked : null;
  };
  const common = { configFile: "c", location: "lazuli-data", accountList: null, showKeys: false };
  assert.deepEqual(read("account list --config c"), {
    ...common,
    command: "account list",
    name: null,
    connectionString: false,
  });
  assert.deepEqual(read("account add shop --config c --accountKeys - --showKeys -l d"), {
    ...common,
    command: "account add",
    name: "shop",
    keys: "-",
    database: null,
    location: "d",
    showKeys: true,
  });
  assert.deepEqual(read("account rotate-key shop --config c --keyName key2"), {
    ...common,
    command: "account rotate-key",
    name: "shop",
    keyName: "key2",
  });
});

test("a program takes the flags of the services that it starts, and names itself", () => {
  const read = (name: ProgramName, line: string) =>
    readCommandLine(line.split(" ").filter(Boolean), {}, PROGRAMS[name]);
  const asked = read("azurite-queue", "--queuePort 1 -l x");
  assert.deepEqual(asked.kind === "start" && asked.options.services, ["queue"]);
  const wrong: [ProgramName, string, RegExp][] = [
    [
      "azurite-queue",
      "--blobPort 1",
      /--blobPort has no meaning here: `azurite-queue` starts Queue/,
    ],
    ["azurite", "--smbMinDialect 3.0", /`azurite` starts Blob, Queue, Table only\. Use `lazuli`/],
    ["azurite", "--frobnicate", /See `azurite --help`/],
    ["azurite-blob", "stop", /Use `azurite-blob \[command\]/],
  ];
  for (const [name, line, message] of wrong) {
    assert.throws(() => read(name, line), { exitCode: 2, message }, line);
  }
});

test("ports of services that are not started cause no conflict", () => {
  const asked = readCommandLine(["--blobPort", "10003"], {}, PROGRAMS.azurite);
  assert.equal(asked.kind, "start");
  assert.match(refusal("--blobPort 10003"), /--blobPort and --filePort are both 10003/);
});

test("mistakes are refused in one line that says what to do", () => {
  const wrong: [string, RegExp][] = [
    ["--blobport 1", /no flag --blobport\. Did you mean --blobPort\?/],
    ["--in-memory", /no flag --in-memory\. Did you mean --inMemoryPersistence\?/],
    ["--frobnicate", /no flag --frobnicate\. See `lazuli --help`/],
    ["-x", /no flag -x\./],
    [
      "stop",
      /"stop" is not a command\. Use `lazuli \[command\].* start, verify, .*health, reload, import/,
    ],
    ["start start", /"start" comes behind the command "start"\./],
    ["account", /"account" is not a command\. .*commands are account list, account add/],
    ["account frob", /"account frob" is not a command\. .*account rotate-key\./],
    ["account add --config c", /`lazuli account add` needs a name: lazuli account add <name>\./],
    ["account add a b --config c", /"b" comes behind the command "account add"\./],
    ["account add a", /needs the configuration file: --config <file>/],
    ["account rotate-key a --config c", /--keyName key1 or --keyName key2/],
    ["account rotate-key a --config c --keyName key3", /--keyName key1 or --keyName key2/],
    ["account remove a --config c --showKeys", /--showKeys has no meaning for `lazuli account rem/],
    ["account add a --config c --connectionString", /--connectionString has no meaning for `lazu/],
    ["account list --config c --connectionString --showKeys", /both print keys.*leave one of them/],
    ["seed f --config c", /--config has no meaning for `lazuli seed`/],
    ["--services blob,blob", /names "blob" twice/],
    ["--services ,", /has an empty place.*--services blob,queue/],
    ["--services Blob", /knows no service "Blob".*has blob, queue, table, file, dfs, smb\./],
    ["--services blob --filePort 1", /--filePort has no meaning here: --services starts Blob only/],
    ["verify --blobPort 1", /--blobPort has no meaning for `lazuli verify`\./],
    ["--scrub 0", /--scrub needs a number of MiB a second, 1 or more/],
    ["--inMemoryPersistence --acceptDataLoss", /--acceptDataLoss is about a data folder/],
    ["--location", /--location needs a value: --location <folder>/],
    ["--location --silent", /--location needs a value/],
    ["--location=", /--location needs a value/],
    ["-l -s", /-l needs a value: -l <folder>/],
    ["--silent=yes", /--silent is a switch/],
    ["--blobPort 65536", /--blobPort needs a port, from 0 to 65535, not "65536"/],
    ["--blobPort 1e3", /--blobPort needs a port/],
    ["--blobPort=-1", /--blobPort needs a port/],
    ["--maxConnections 0", /--maxConnections needs a number of connections, 1 or more/],
    ["--stopDelay soon", /--stopDelay needs a number of seconds, from 0 to 3600, not "soon"/],
    ["--maxConnectionsPerAddress x", /--maxConnectionsPerAddress needs a number of connections/],
    ["--blobPort 9 --queuePort 9", /--blobPort and --queuePort are both 9/],
    ["--inMemoryPersistence -l x", /contradict/],
    ["--extentMemoryLimit 5", /only together with --inMemoryPersistence/],
    ["--silent --log -", /contradict/],
    ["--oauth full --cert c", /knows "basic" only/],
    ["--oauth basic", /needs HTTPS.*--cert/],
    ["--key k.pem", /give it with --cert/],
    ["--metricsPort x", /--metricsPort needs a port, from 0 to 65535, not "x"/],
    ["--metricsHost ::1", /--metricsHost needs a port: give it with --metricsPort/],
    ["--blobPort 9 --metricsPort 9", /--blobPort and --metricsPort are both 9/],
    ["--blobPort 9 --consolePort 9", /--blobPort and --consolePort are both 9/],
    ["--consoleHost 0.0.0.0", /console on 0\.0\.0\.0 needs HTTPS.*--cert/],
    ["--noConsole --consolePort 9", /--noConsole and --consolePort contradict/],
    ["--smbEncryption yes", /required, preferred, off/],
    ["--listener http2", /own, node/],
    ["--smbMinDialect 1", /--smbMinDialect is 2\.0\.2, 2\.1, 3\.0, 3\.0\.2, 3\.1\.1; not "1"/],
  ];
  for (const [line, message] of wrong) assert.match(refusal(line), message, line);
});

test("two services may both ask for any free port, or share a port on different addresses", () => {
  assert.equal(options("--blobPort 0 --queuePort 0").listen.queue.port, 0);
  assert.equal(options("--blobPort 9 --queuePort 9 --queueHost ::1").listen.queue.port, 9);
});

test("environment variables are defaults of flags, and the command line comes first", () => {
  const env = { LAZULI_LOCATION: "/data", LAZULI_HOST: "0.0.0.0", LAZULI_TRUST_NETWORK: "true" };
  const read = (...args: string[]) => {
    const asked = readCommandLine(args, env);
    assert.equal(asked.kind, "start");
    const { location, listen, trustNetwork } = (asked as Extract<typeof asked, { kind: "start" }>)
      .options;
    return [location, listen.blob.host, trustNetwork];
  };
  assert.deepEqual(read(), ["/data", "0.0.0.0", true]);
  assert.deepEqual(read("--location", "x", "--host", "::1"), ["x", "::1", true]);
  assert.deepEqual(read("--inMemoryPersistence"), [null, "0.0.0.0", true]);
  const verify = { kind: "verify", asked: { location: "/data", shared: null } };
  assert.deepEqual(readCommandLine(["verify"], env), verify);
  assert.deepEqual(readCommandLine(["health", "--blobPort", "1"], env), {
    kind: "health",
    origins: ["http://127.0.0.1:1"],
  });
});

test("a switch in the environment is true or false, and nothing is off", () => {
  const trust = (text: string) => {
    const asked = readCommandLine([], { LAZULI_TRUST_NETWORK: text });
    return asked.kind === "start" && asked.options.trustNetwork;
  };
  assert.deepEqual(["true", "1", "false", "0", ""].map(trust), [true, true, false, false, false]);
  assert.throws(() => trust("yes"), {
    message: 'LAZULI_TRUST_NETWORK is true or false, not "yes".',
  });
});

test("verify takes the bucket of a data folder, too", () => {
  const asked = readCommandLine(["verify", "--bytes", "s3://bucket"], { AWS_REGION: "r" });
  assert.ok(asked.kind === "verify");
  assert.equal(asked.asked.bucket?.bytes, "s3://bucket");
  assert.equal(asked.asked.bucket?.s3.region, "r");
});
