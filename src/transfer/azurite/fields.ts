import type { Pairs, Policy } from "../item.ts";

/** Reads fields of documents, whose types nothing guarantees. */

export type Document = Readonly<Record<string, unknown>>;

export function textIn(document: Document, name: string): string | undefined {
  const value = document[name];
  return typeof value === "string" ? value : undefined;
}

export function numberIn(document: Document, name: string): number {
  const value = document[name];
  return typeof value === "number" ? value : 0;
}

export function objectIn(document: Document, name: string): Document {
  const value = document[name];
  return typeof value === "object" && value !== null ? (value as Document) : {};
}

export function listIn(document: Document, name: string): readonly Document[] {
  const value = document[name];
  return Array.isArray(value) ? value : [];
}

export function pairsIn(document: Document, name: string): Pairs {
  return Object.entries(objectIn(document, name)).map(([key, value]) => [key, `${value}`]);
}

export function policiesIn(document: Document, name: string): Policy[] {
  return listIn(document, name).map((found) => {
    const terms = objectIn(found, "accessPolicy");
    const fields = (["start", "expiry", "permission"] as const).map((field) => {
      const value = textIn(terms, field);
      return value === undefined || value === "" ? {} : { [field]: value };
    });
    return Object.assign({ id: textIn(found, "id") ?? "" }, ...fields);
  });
}

/** Base64 of bytes that were an array, a `Buffer` or a text before they became JSON. */
export function base64In(document: Document, name: string): string | undefined {
  const value = document[name];
  if (typeof value === "string") return value === "" ? undefined : value;
  if (typeof value !== "object" || value === null) return undefined;
  const data = (value as { data?: unknown }).data;
  const numbers = Array.isArray(data) ? data : Object.values(value);
  if (numbers.length === 0 || numbers.some((one) => typeof one !== "number")) return undefined;
  return Buffer.from(numbers as number[]).toString("base64");
}
