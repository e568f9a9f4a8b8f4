import type { ServiceName } from "../src/front/rest/auth/resource.ts";
import { type SasFields, type SasKind, sasKindOf } from "../src/front/rest/auth/sas-fields.ts";
import { sasText, signedFields } from "../src/front/rest/auth/sas-text.ts";
import { type SigningKey, sign } from "./signing.ts";

declare global {
  /** `Fault` sets it, which the page shares with the server; some browsers lack it. */
  interface ErrorConstructor {
    stackTraceLimit: number;
  }
}

/** A SAS on its way to be signed, or one that somebody pasted. */
export interface Token {
  readonly account: string;
  readonly service: ServiceName;
  /** Container, share, queue or table; "" for an account SAS. */
  readonly holder: string;
  readonly name: string;
  /** In the order of the URL; `sig` is missing before it is signed. */
  readonly fields: readonly (readonly [name: string, value: string])[];
}

export function fieldsOf({ fields }: Pick<Token, "fields">): SasFields {
  const values = new Map(fields);
  const get = (name: string) => values.get(name);
  return { get, form: get };
}

export function kindOf(token: Pick<Token, "fields">): SasKind {
  return sasKindOf(fieldsOf(token));
}

/** Names of the fields that its signature covers. Throws if there is no such kind of token. */
export function signedNames(token: Token): readonly string[] {
  const version = fieldsOf(token).get("sv") ?? "";
  return signedFields(kindOf(token), token.service, version);
}

/** The string to sign, by the server's own rules. Throws the server's refusal. */
export function textOf(token: Token): string {
  const { account, service, holder, name } = token;
  const fields = fieldsOf(token);
  return sasText(signedNames(token), {
    fields,
    resource: { service, container: holder, name },
    accountName: account,
    version: fields.get("sv") ?? "",
    header: () => undefined,
  });
}

/** The token with its signature. */
export async function signedToken(token: Token, key: SigningKey): Promise<Token> {
  return { ...token, fields: [...token.fields, ["sig", await sign(key, textOf(token))]] };
}

/** The fields as part of a URL. */
export function queryOf(fields: Token["fields"]): string {
  return fields.map(([name, value]) => `${name}=${encodeURIComponent(value)}`).join("&");
}
