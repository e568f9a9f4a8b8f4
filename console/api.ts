// The API of the console: docs/reference/console-api.md.

/** An answer that is no success: the words of the server. */
export class ApiError extends Error {
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }
}

/** Tells the server that it is the page that asks: other sites cannot send this. */
export const PAGE_HEADERS = { "x-lazuli-console": "1" };

export async function getJson<T>(path: string): Promise<T> {
  return answerOf<T>(await fetch(path, { headers: PAGE_HEADERS }));
}

export async function postJson<T>(path: string, json: object): Promise<T> {
  const headers = { ...PAGE_HEADERS, "content-type": "application/json" };
  return answerOf<T>(await fetch(path, { method: "POST", headers, body: JSON.stringify(json) }));
}

async function answerOf<T>(response: Response): Promise<T> {
  const json = await response.json();
  if (response.ok) return json as T;
  throw new ApiError(response.status, json.code, json.message);
}

/** Shows the sign-in if the session has ended: its server was started again, or another page signed out. */
async function signInAgain(): Promise<void> {
  await getJson("/api/session").catch((error) => {
    if (error instanceof ApiError && error.status === 401) location.reload();
  });
}

/** Subscribes to live events. Returns a function that ends it; the browser reconnects by itself. */
export function listen<T>(
  name: "requests" | "holders" | "figures",
  take: (value: T) => void,
  onState: (isOpen: boolean) => void = () => {},
): () => void {
  const source = new EventSource(`/api/events?of=${name}`);
  source.addEventListener(name, (event) => take(JSON.parse((event as MessageEvent).data)));
  source.addEventListener("open", () => onState(true));
  source.addEventListener("error", () => {
    onState(false);
    // A browser tries again unless it was refused.
    if (source.readyState === EventSource.CLOSED) void signInAgain();
  });
  return () => source.close();
}
