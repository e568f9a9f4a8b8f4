import { CREDENTIAL, type TestService } from "./server.ts";

const VERSION = "2026-04-06";
const HOUR_MS = 3_600_000;

/** Signs an account SAS, since the SDK refuses to sign letters that queues do not have. */
export function accountSas(
  server: TestService,
  letters: string,
  { services = "q", types = "sco" } = {},
): string {
  const expiry = inAnHour();
  const fields = [server.account, letters, services, types, "", expiry, "", "", VERSION, "", ""];
  return queryOf({
    ...{ sv: VERSION, ss: services, srt: types, sp: letters, se: expiry },
    sig: CREDENTIAL.computeHMACSHA256(fields.join("\n")),
  });
}

/** Signs a queue SAS. With a policy, the token holds only its name. */
export function queueSas(
  server: TestService,
  queue: string,
  terms: { letters?: string; policy?: string; expiry?: string },
): string {
  const { letters = "", policy = "" } = terms;
  const expiry = terms.expiry ?? (policy === "" ? inAnHour() : "");
  const resource = `/queue/${server.account}/${queue}`;
  const fields = [letters, "", expiry, resource, policy, "", "", VERSION];
  return queryOf({
    ...{ sv: VERSION, sp: letters, se: expiry, si: policy },
    sig: CREDENTIAL.computeHMACSHA256(fields.join("\n")),
  });
}

function inAnHour(): string {
  return `${new Date(Date.now() + HOUR_MS).toISOString().slice(0, 19)}Z`;
}

function queryOf(parameters: Readonly<Record<string, string>>): string {
  return Object.entries(parameters)
    .filter(([, value]) => value !== "")
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
}
