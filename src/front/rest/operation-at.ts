import { Fault } from "../../base/fault.ts";
import type { Query } from "./http/exchange.ts";

/**
 * The operation that a method and a query ask for, of those at one level: routes are spelled
 * "METHOD comp", for an account with `restype` behind it. HEAD asks for what GET would answer.
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
