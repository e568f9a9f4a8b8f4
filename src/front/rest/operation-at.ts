import { Fault } from "../../base/fault.ts";
import type { Query } from "./http/exchange.ts";

/**
 * Returns the operation for a method and a query at one level (account, container, …). Routes are
 * written as "METHOD comp", at the account level as "METHOD comp restype". HEAD falls back to GET.
 */
export function operationAt<Name extends string>(
  routes: Readonly<Record<string, Name>>,
  level: string,
  method: string,
  query: Query,
): Name {
  const comp = query.get("comp") ?? "";
  const restype = level === "account" ? (query.get("restype")?.toLowerCase() ?? "") : "";
  const rest = restype === "" ? "" : ` ${restype}`;
  const what = comp === "" ? rest : ` ${comp}${rest}`;
  const found = routes[method + what] ?? (method === "HEAD" ? routes[`GET${what}`] : undefined);
  if (found !== undefined) return found;
  const known = Object.keys(routes).some((route) => route.slice(route.indexOf(" ")) === what);
  if (known || what === "") throw new Fault("UnsupportedHttpVerb", { Method: method });
  throw new Fault("InvalidQueryParameterValue", {
    QueryParameterName: "comp",
    QueryParameterValue: comp,
    Reason: `There is no such operation on ${level === "account" ? "an account" : `a ${level}`}.`,
  });
}
