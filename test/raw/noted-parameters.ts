import type {
  Query,
  RequestHeaders,
  RestRequest,
  RestResponse,
} from "../../src/front/rest/http/exchange.ts";

/** The headers and parameters that a handler has read, in lower case. */
export interface Noted {
  readonly headers: Set<string>;
  readonly query: Set<string>;
}

interface Call {
  readonly request: RestRequest;
}

type Handler = (context: never, call: never) => Promise<RestResponse>;
type Handlers = Readonly<Record<string, Handler | undefined>>;

/**
 * Wraps every handler of a table to record what it reads. Reads by routing and authentication do
 * not count, as they read much that they do not use.
 */
export function noteParameters(handlers: object): Noted {
  const noted = { headers: new Set<string>(), query: new Set<string>() };
  for (const [name, handler] of Object.entries(handlers as Handlers)) {
    if (handler === undefined) continue;
    const noting = (context: never, call: Call) =>
      handler(context, { ...call, request: notingRequest(call.request, noted) } as never);
    Object.assign(handlers, { [name]: noting });
  }
  return noted;
}

function notingRequest(request: RestRequest, noted: Noted): RestRequest {
  const headers: RequestHeaders = {
    get: (name) => request.headers.get(note(noted.headers, name)),
    raw: request.headers.raw,
  };
  const query: Query = {
    get: (name) => request.query.get(note(noted.query, name)),
    form: (name) => request.query.form(note(noted.query, name)),
    entries: request.query.entries,
  };
  const { id, method, target, path, version, body, secure, remoteAddress, receivedMs, judgedMs } =
    request;
  const { facts, wholeBodies } = request;
  return {
    ...{ id, method, target, path, version, body, secure, remoteAddress, receivedMs, judgedMs },
    facts,
    wholeBodies,
    headers,
    query,
  };
}

function note(names: Set<string>, name: string): string {
  names.add(name.toLowerCase());
  return name;
}
