import type { RequestHeaders } from "../http/exchange.ts";

/** Whether the created entity is sent back; null if the client does not say. */
export type Preference = "return-content" | "return-no-content" | null;

export function preferenceOf(headers: RequestHeaders): Preference {
  const sent = headers.get("prefer");
  if (sent === undefined || sent === "return-content" || sent === "return-no-content") {
    return sent ?? null;
  }
  const words = sent.toLowerCase().split(",");
  for (const word of words.map((one) => one.trim())) {
    if (word === "return-content" || word === "return-no-content") return word;
  }
  return null;
}

export function preferenceHeaders(preference: Preference): string[] {
  return preference === null ? [] : ["Preference-Applied", preference];
}
