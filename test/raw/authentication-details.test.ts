import assert from "node:assert/strict";
import { generateKeyPairSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { fileURLToPath } from "node:url";
import { BlobSASPermissions, generateBlobSASQueryParameters } from "@azure/storage-blob";
import { SignJWT } from "jose";
import { issuerOf } from "../../src/front/rest/auth/bearer.ts";
import { askSecurely, bearer, TAKES_TOKENS } from "../sdk/bearer.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { CREDENTIAL, forThisFile, startServer } from "../sdk/server.ts";

interface Messages {
  readonly sources: Readonly<Record<string, string>>;
  /** By refusal: the source of the service's sentence, and the sentence. */
  readonly details: Readonly<Record<string, readonly [source: string, sentence: string]>>;
}

/** This file runs from `dist`. */
const FILE = fileURLToPath(new URL("../../../test/vectors/error-messages.json", import.meta.url));
const { sources, details }: Messages = JSON.parse(readFileSync(FILE, "utf8"));

const DAY_MS = 24 * 3_600_000;
const PATH = "/box/blob";
const SECONDS = Math.floor(Date.now() / 1_000);
const PAIR = generateKeyPairSync("rsa", { modulusLength: 2048 });
const ISSUER = "https://login.example.org/tenant";

const plain = await forThisFile(startServer());
const secure = await forThisFile(startServer(TAKES_TOKENS));
const keys = [{ ...PAIR.publicKey.export({ format: "jwk" }), kid: "known", alg: "RS256" }];
const trusting = await forThisFile(
  startServer({ ...TAKES_TOKENS, oauth: issuerOf({ issuer: ISSUER, from: { keys } }) }),
);

const days = (count: number) => new Date(Date.now() + count * DAY_MS);

function sas(expiresOn: Date, startsOn?: Date): string {
  const permissions = BlobSASPermissions.parse("r");
  const terms = { containerName: "box", blobName: "blob", permissions, expiresOn };
  const all = startsOn === undefined ? terms : { ...terms, startsOn };
  return generateBlobSASQueryParameters(all, CREDENTIAL).toString();
}

const withSas = async (token: string) =>
  (await rawRequest(plain, { path: `${PATH}?${token}`, signed: false })).text;
const withHeaders = async (headers: Record<string, string>) =>
  (await rawRequest(plain, { path: PATH, headers, signed: false })).text;
const withToken = async (headers: object, server = secure) =>
  (await askSecurely(server, "GET", PATH, headers)).text;

async function byUnknownKey(): Promise<object> {
  const token = await new SignJWT({ iss: ISSUER, exp: SECONDS + 60 })
    .setProtectedHeader({ alg: "RS256", kid: "unknown" })
    .sign(PAIR.privateKey);
  return { authorization: `Bearer ${token}` };
}

const REFUSED: Readonly<Record<string, () => Promise<string>>> = {
  "a SAS that is over and has no start": () => withSas(sas(days(-1))),
  "a SAS that is over": () => withSas(sas(days(-1), days(-2))),
  "a SAS that is not valid yet": () => withSas(sas(days(2), days(1))),
  "a SAS with a wrong signature": () => withSas(sas(days(1)).replace("sp=r", "sp=w")),
  "a SAS without an expiry": () => withSas(sas(days(1)).replace(/&se=[^&]*/, "")),
  "a SharedKey signature that is wrong": () =>
    withHeaders({ authorization: `SharedKey ${plain.account}:AAAA` }),
  "a date that is too old": () =>
    withHeaders({
      authorization: `SharedKey ${plain.account}:AAAA`,
      "x-ms-date": days(-1).toUTCString(),
    }),
  "a token over plain HTTP": () => withHeaders(bearer()),
  "a token in an old version": () => withToken({ ...bearer(), "x-ms-version": "2017-07-29" }),
  "a token that is over": () => withToken(bearer({ exp: SECONDS - 3_600 })),
  "a token that is not valid yet": () => withToken(bearer({ nbf: SECONDS + 3_600 })),
  "a token for another audience": () => withToken(bearer({ aud: "https://vault.azure.net" })),
  "a token of another issuer": () => withToken(bearer({ iss: "https://example.org/" })),
  "a token signed with an unknown key": async () => withToken(await byUnknownKey(), trusting),
};

for (const [what, [source, sentence]] of Object.entries(details)) {
  test(`${what} is refused with the service's sentence`, async () => {
    assert.ok(source in sources, source);
    const text = await (REFUSED[what] as () => Promise<string>)();
    const detail = /<AuthenticationErrorDetail>(.*?)<\/AuthenticationErrorDetail>/s.exec(text)?.[1];
    assert.match(unescaped(detail ?? text), patternOf(sentence));
  });
}

/** Makes a pattern from a sentence; `..` stands for values that differ between requests. */
function patternOf(sentence: string): RegExp {
  const literal = sentence.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(`^${literal.replaceAll("\\.\\.", ".+")}$`, "s");
}

function unescaped(text: string): string {
  return text.replaceAll("&apos;", "'").replaceAll("&#39;", "'").replaceAll("&amp;", "&");
}
