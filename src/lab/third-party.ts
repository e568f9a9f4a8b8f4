import { createHmac } from "node:crypto";
import { request as requestPlain } from "node:http";
import { request as requestSecure } from "node:https";
import type { RestServiceName } from "../front/outcome.ts";
import { NEWEST_VERSION } from "../front/rest/http/protocol-version.ts";
import { LabError } from "./lab-error.ts";
import { readAccount } from "./read-fields.ts";
import type { ThirdParty } from "./rule.ts";

/** Requests with this header, and the lab's token in it, meet no rules. */
export const LAB_HEADER = "x-lazuli-lab";

/** Where the services of a server listen, and the keys of its accounts. */
export interface Endpoints {
  /** `http://127.0.0.1:10000`; undefined if the service does not run. */
  originOf(service: RestServiceName): string | undefined;
  /** A key in Base64; undefined if there is no such account. */
  keyOf(account: string): string | undefined;
  /** The names of all accounts. The first one is the default. */
  readonly accounts: readonly string[];
  /** `smb://127.0.0.1:10445`; undefined if SMB does not run. */
  readonly smbOrigin: string | undefined;
}

export interface ThirdPartyAnswer {
  readonly status: number;
  readonly code: string | null;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string;
}

const ANSWER_MS_MAX = 30_000;
const SAS_VERSION = "2022-11-02";

/** Sends requests to the server's own listeners, in the name of an account. */
export class ThirdParties {
  readonly #endpoints: Endpoints;
  readonly #token: string;

  constructor(endpoints: Endpoints, token: string) {
    this.#endpoints = endpoints;
    this.#token = token;
  }

  /** `asFirst` has the service and account of requests that name none. `meetsRules`: as a client's. */
  send(
    { service, account, method, path, headers, body }: ThirdParty,
    asFirst: { readonly service: RestServiceName; readonly account: string },
    meetsRules = false,
  ): Promise<ThirdPartyAnswer> {
    const name = account ?? asFirst.account;
    const origin = this.#endpoints.originOf(service ?? asFirst.service);
    if (origin === undefined) {
      throw new LabError(
        `The ${service ?? asFirst.service} service does not run on this server: add it to its --services.`,
      );
    }
    const url = new URL(origin);
    const target = this.signed(name, path);
    const bytes = Buffer.from(body, "utf8");
    const sendOver = url.protocol === "https:" ? requestSecure : requestPlain;
    return new Promise((resolve, reject) => {
      const sent = sendOver({
        hostname: url.hostname.replace(/^\[|\]$/g, ""),
        port: url.port,
        method,
        path: target,
        timeout: ANSWER_MS_MAX,
        agent: false,
        // It is this very server, whose certificate is for others.
        rejectUnauthorized: false,
        headers: {
          "x-ms-version": NEWEST_VERSION,
          ...headers,
          "content-length": bytes.length,
          ...(meetsRules ? {} : { [LAB_HEADER]: this.#token }),
        },
      });
      sent.on("timeout", () => sent.destroy(new Error("no answer in time")));
      sent.on("error", reject);
      sent.on("response", (answer) => {
        let text = "";
        answer.setEncoding("utf8").on("data", (part: string) => {
          text += part;
        });
        answer.on("error", reject).on("end", () => {
          const code = answer.headers["x-ms-error-code"];
          const { statusCode = 0 } = answer;
          const shownHeaders = answer.headers as Record<string, string | undefined>;
          resolve({
            status: statusCode,
            code: code === undefined ? null : `${code}`,
            headers: shownHeaders,
            body: text,
          });
        });
      });
      sent.end(bytes);
    });
  }

  /** The target of a request to this path of an account, with a SAS. */
  signed(account: string, path: string): string {
    const { pathname, search } = new URL(`http://lab/${account}${path}`);
    return `${pathname}${search}${search === "" ? "?" : "&"}${this.#sasOf(account)}`;
  }

  /** An account SAS that permits everything, whatever the clock of the account says. */
  #sasOf(account: string): string {
    const { accounts } = this.#endpoints;
    const key = this.#endpoints.keyOf(readAccount(account, "account", accounts)) ?? "";
    const [permissions, services, types] = ["rwdxylacuptfi", "bfqt", "sco"];
    const expiry = "9999-12-31T23:59:59Z";
    const lines = [account, permissions, services, types, "", expiry, "", "", SAS_VERSION, "", ""];
    const signature = createHmac("sha256", Buffer.from(key, "base64"))
      .update(lines.join("\n"), "utf8")
      .digest("base64");
    const query = { sv: SAS_VERSION, ss: services, srt: types, sp: permissions, se: expiry };
    return new URLSearchParams({ ...query, sig: signature } as Record<string, string>).toString();
  }
}
