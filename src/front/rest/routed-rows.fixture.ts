/**
 * Lists the operations that a route table finds by method, level and query, with the request for
 * each.
 */
export function routedRows<Name extends string>(
  levels: Readonly<Record<string, Readonly<Record<string, Name>>>>,
): { readonly operation: Name; readonly request: string }[] {
  return Object.entries(levels).flatMap(([level, routes]) =>
    Object.entries(routes).map(([route, operation]) => {
      const [method, comp, restype] = route.split(" ");
      const query = [comp && `\`comp=${comp}\``, restype && `\`restype=${restype}\``];
      const words = [method, level, ...query.filter((word) => word !== undefined)];
      return { operation, request: words.join(" ") };
    }),
  );
}
