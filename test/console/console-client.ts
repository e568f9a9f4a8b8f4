import assert from "node:assert/strict";
import { createHmac } from "node:crypto";

/** A program that uses the console's API. */
export class ConsoleClient {
  readonly #origin: string;
  readonly #cookie: string;

  private constructor(origin: string, cookie: string) {
    this.#origin = origin;
    this.#cookie = cookie;
  }

  /** Signs in with the token in the printed address. */
  static signIn(address: string): Promise<ConsoleClient> {
    const { origin, hash } = new URL(address);
    return ConsoleClient.#signIn(origin, { token: hash.replace("#token=", "") });
  }

  static async signInByKey(address: string, account: string, key: string): Promise<ConsoleClient> {
    const { origin } = new URL(address);
    const answer = await fetch(`${origin}/api/challenge`);
    const { challenge } = (await answer.json()) as { challenge: string };
    const signature = createHmac("sha256", Buffer.from(key, "base64"))
      .update(`lazuli-console\n${challenge}`)
      .digest("base64");
    return ConsoleClient.#signIn(origin, { account, challenge, signature });
  }

  static async #signIn(origin: string, body: object): Promise<ConsoleClient> {
    const answer = await post(origin, "/api/sign-in", body, "");
    assert.equal(answer.status, 200, await answer.text());
    return new ConsoleClient(origin, (answer.headers.get("set-cookie") ?? "").split(";")[0] ?? "");
  }

  async get<T>(path: string): Promise<T> {
    const answer = await fetch(this.#origin + path, { headers: { cookie: this.#cookie } });
    assert.equal(answer.status, 200);
    return (await answer.json()) as T;
  }

  /** Status and code of a refusal. */
  async failsToGet(path: string): Promise<[number, string]> {
    const answer = await fetch(this.#origin + path, { headers: { cookie: this.#cookie } });
    const { code } = (await answer.json()) as { code: string };
    return [answer.status, code];
  }

  async post<T>(path: string, body: object): Promise<T> {
    const answer = await post(this.#origin, path, body, this.#cookie);
    const json = (await answer.json()) as T;
    assert.equal(answer.status, 200, JSON.stringify(json));
    return json;
  }

  /** Status and code of a refusal. */
  async fails(path: string, body: object): Promise<[number, string]> {
    const answer = await post(this.#origin, path, body, this.#cookie);
    const { code } = (await answer.json()) as { code: string };
    return [answer.status, code];
  }
}

function post(origin: string, path: string, body: object, cookie: string): Promise<Response> {
  return fetch(origin + path, {
    method: "POST",
    headers: { "x-lazuli-console": "1", cookie },
    body: JSON.stringify(body),
  });
}
