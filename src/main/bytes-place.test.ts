import assert from "node:assert/strict";
import { test } from "node:test";
import type { S3Given, S3Options } from "./bytes-options.ts";
import { keysOfProfile, readBytesPlace } from "./bytes-place.ts";
import { readCommandLine } from "./command-line.ts";
import { readConfig } from "./config-file.ts";
import { chooseBucket } from "./places.ts";

const KEYS = { accessKeyId: "id", secretAccessKey: "secret", sessionToken: null };
const NOTHING: S3Options = {
  endpoint: null,
  region: null,
  addressStyle: null,
  credentialsFile: null,
  caFile: null,
  keys: null,
};
const GIVEN: S3Given = { ...NOTHING, keys: KEYS, flag: null, profile: "default", homeFile: null };
const NO_FILES = { read: () => assert.fail("no file"), exists: () => false };
const URL_OF_BUCKET = "s3://bucket/some/prefix";

function place(options: Partial<S3Options>, url = URL_OF_BUCKET) {
  return readBytesPlace(url, null, { ...GIVEN, ...options }, NO_FILES);
}

/** What the command line says about bytes. */
function start(line: string, env: Record<string, string> = {}) {
  const asked = readCommandLine(line.split(" "), env);
  assert.ok(asked.kind === "start");
  return asked.options;
}

test("a place has the bucket, the prefix, and AWS in the default region", () => {
  const { endpoint, ...rest } = place({});
  assert.equal(endpoint.href, "https://s3.us-east-1.amazonaws.com/");
  assert.deepEqual(rest, {
    region: "us-east-1",
    bucket: "bucket",
    prefix: "some/prefix/",
    isPathStyle: false,
    credentials: KEYS,
    authorities: null,
  });
  for (const url of ["s3://bucket", "s3://bucket/"]) assert.equal(place({}, url).prefix, "");
  assert.equal(place({}, "s3://bucket/a//b/").prefix, "a/b/");
  assert.equal(place({ region: "eu-west-1" }).endpoint.host, "s3.eu-west-1.amazonaws.com");
});

test("the bucket is in the path of URLs unless DNS knows it", () => {
  assert.equal(place({ endpoint: "http://10.1.2.3:9000" }).isPathStyle, true);
  assert.equal(place({}, "s3://with.dots").isPathStyle, true);
  const endpoint = "https://s3.example.org";
  assert.equal(place({ endpoint, addressStyle: "host" }).isPathStyle, false);
  assert.equal(place({ addressStyle: "path" }).isPathStyle, true);
});

test("a bucket that cannot be used is refused with what to do", () => {
  const urls: [string, RegExp][] = [
    ["s3://", /names no bucket: write s3:\/\/bucket\/prefix\.$/],
    ["s3:bucket", /names no bucket/],
    ["s3:///prefix", /names no bucket/],
    ["s3://My_Bucket", /"My_Bucket" is no name of a bucket: it has 3 to 63 small/],
    ["s3://bucket/a b", /only letters, digits/],
    ["s3://bucket/../x", /only letters, digits/],
  ];
  for (const [url, message] of urls) assert.throws(() => place({}, url), { message }, url);
  const options: [Partial<S3Options>, RegExp][] = [
    [{ region: "Frankfurt am Main" }, /no region of S3/],
    [{ endpoint: "10.1.2.3:9000" }, /must be a URL such as http:/],
    [{ endpoint: "ftp://10.1.2.3" }, /must be a URL such as http:/],
    [{ endpoint: "http://id:key@10.1.2.3" }, /without keys/],
    [{ addressStyle: "both" }, /is path or host; not "both"/],
    [{ endpoint: "http://10.1.2.3", addressStyle: "host" }, /use the address style "path"/],
    [{ endpoint: "http://[::1]:9000", addressStyle: "host" }, /use the address style "path"/],
  ];
  for (const [wrong, message] of options) {
    assert.throws(() => place(wrong), { message }, JSON.stringify(wrong));
  }
});

test("keys come from the configuration, a file, the environment or the home folder", () => {
  const file = (id: string) =>
    Buffer.from(`[default]\naws_access_key_id = ${id}\naws_secret_access_key=s\n`);
  const files = { read: (path: string) => file(path), exists: (path: string) => path === "home" };
  const idOf = (configured: Partial<S3Options>, given: Partial<S3Given>) => {
    const all = { ...GIVEN, homeFile: "home", ...given };
    const found = readBytesPlace(URL_OF_BUCKET, { ...NOTHING, ...configured }, all, files);
    return found.credentials.accessKeyId;
  };
  const keys = { ...KEYS, accessKeyId: "config" };
  assert.equal(idOf({ keys }, { credentialsFile: "flag" }), "config");
  assert.equal(idOf({ credentialsFile: "file" }, {}), "file");
  assert.equal(idOf({}, { credentialsFile: "flag" }), "flag");
  assert.equal(idOf({}, {}), "id");
  assert.equal(idOf({}, { keys: null }), "home");
  const none = { keys: null, homeFile: "nowhere" };
  assert.throws(() => idOf({}, none), /needs a key: set AWS_ACCESS_KEY_ID and .*--s3Credentials/);
  const other = { keys: null, profile: "other", credentialsFile: "f" };
  assert.throws(() => idOf({}, other), /f has no .* under \[other\]/);
});

test("a credentials file has profiles", () => {
  const text = `# mine
[ default ]
aws_access_key_id=A
aws_secret_access_key = a/b+c=
[work]
aws_access_key_id = B
aws_secret_access_key = b
aws_session_token = token
region = eu-west-1
[half]
aws_access_key_id = C
`;
  assert.deepEqual(keysOfProfile(text, "default"), {
    accessKeyId: "A",
    secretAccessKey: "a/b+c=",
    sessionToken: null,
  });
  assert.equal(keysOfProfile(text.replaceAll("\n", "\r\n"), "work")?.sessionToken, "token");
  for (const profile of ["half", "none"]) assert.equal(keysOfProfile(text, profile), null);
});

test("flags and variables say how to reach a bucket", () => {
  const flags =
    "--bytes s3://bucket --s3Endpoint http://a --s3Region r --s3AddressStyle path --s3Ca ca.pem";
  const { bytes, s3 } = start(`${flags} --s3Credentials keys`);
  const expected = { endpoint: "http://a", region: "r", caFile: "ca.pem" };
  const own = { flag: "s3Endpoint", addressStyle: "path", credentialsFile: "keys", keys: null };
  assert.deepEqual([bytes, s3], ["s3://bucket", { ...GIVEN, ...expected, ...own }]);
  const env = {
    ...{ LAZULI_BYTES: "s3://bucket", AWS_ENDPOINT_URL_S3: "http://a", AWS_REGION: "r" },
    ...{ AWS_CA_BUNDLE: "ca.pem", HOME: "/h", AWS_PROFILE: "p" },
    ...{ AWS_ACCESS_KEY_ID: "id", AWS_SECRET_ACCESS_KEY: "secret", AWS_SESSION_TOKEN: "t" },
  };
  const named = start("start", env);
  assert.equal(named.bytes, "s3://bucket");
  const keys = { ...KEYS, sessionToken: "t" };
  const found = { ...GIVEN, ...expected, profile: "p", homeFile: "/h/.aws/credentials", keys };
  assert.deepEqual(named.s3, found);
});

test("a key in the environment has both halves", () => {
  const only = (name: string) => () => start("start", { [name]: "x" });
  assert.throws(only("AWS_ACCESS_KEY_ID"), /AWS_SECRET_ACCESS_KEY is missing/);
  assert.throws(only("AWS_SECRET_ACCESS_KEY"), /AWS_ACCESS_KEY_ID is missing/);
});

test("what is said about a bucket needs a bucket, and is said once", () => {
  const choose = (line: string, config = {}, env = {}) => {
    const options = { ...start(line, env), configFile: "c.json" };
    return chooseBucket(options.bytes, options, readConfig("c.json", JSON.stringify(config)));
  };
  assert.equal(choose("start"), null);
  assert.equal(choose("start", {}, { AWS_REGION: "r", AWS_CA_BUNDLE: "x" }), null);
  assert.throws(() => choose("--s3Region r"), /^Error: --s3Region is about a bucket: name it/);
  assert.throws(() => choose("start", { s3: {} }), /"s3" in c\.json is about a bucket: name it/);
  const bucket = "--bytes s3://bucket";
  assert.throws(
    () => choose(`${bucket} --s3Region r`, { s3: { endpoint: "http://a" } }),
    /--s3Region and "s3" in c\.json are both given: keep one/,
  );
  const s3 = { endpoint: "http://a", accessKeyId: "id", secretAccessKey: "secret" };
  assert.equal(choose(bucket, { s3 }, { AWS_REGION: "r" })?.region, "r");
  for (const line of [
    `${bucket} --inMemoryPersistence`,
    `${bucket} --records postgres://h/d -l x`,
  ]) {
    assert.throws(() => start(line), /contradict each other: leave one of them out/);
  }
  assert.throws(
    () => choose("--inMemoryPersistence", { s3 }, { LAZULI_BYTES: "s3://bucket" }),
    /--inMemoryPersistence and --bytes contradict each other: keep one/,
  );
});

test("the configuration file says how to reach a bucket", () => {
  const read = (s3: unknown) => readConfig("c.json", JSON.stringify({ s3 })).s3;
  const keys = { accessKeyId: "id", secretAccessKey: "secret" };
  const all = { endpoint: "http://a", region: "r", addressStyle: "path", caFile: "ca.pem" };
  assert.deepEqual(read({ ...all, ...keys }), { ...NOTHING, ...all, keys: KEYS });
  assert.deepEqual(read({}), NOTHING);
  assert.throws(() => read({ accessKeyId: "id" }), /"s3\.secretAccessKey" is missing/);
  assert.throws(() => read({ secret: "x" }), /"s3\.secret" is not known here/);
});
