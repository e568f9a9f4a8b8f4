/** An answer of the API: a status, and what is sent as JSON. */
export interface Reply {
  readonly status: number;
  readonly json: unknown;
  readonly cookie?: string;
}

export function ok(json: object): Reply {
  return { status: 200, json };
}

export function error(status: number, code: string, message: string): Reply {
  return { status, json: { code, message } };
}

/** Undefined if it is no JSON. */
export function parsedJson(body: Uint8Array): unknown {
  try {
    return JSON.parse(Buffer.from(body).toString("utf8"));
  } catch {
    return undefined;
  }
}
