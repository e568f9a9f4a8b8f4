import type { FaultCode } from "../base/fault.ts";
import { CORS_RULES_MAX, KIB } from "../base/limits.ts";

/** Permits web pages of other origins to call a service. The first rule that matches decides. */
export interface CorsRule {
  readonly allowedOrigins: readonly string[];
  readonly allowedMethods: readonly string[];
  readonly allowedHeaders: readonly string[];
  readonly exposedHeaders: readonly string[];
  readonly maxAgeSeconds: number;
}

const METHODS = ["DELETE", "GET", "HEAD", "MERGE", "POST", "PATCH", "OPTIONS", "PUT"];
const TEXT_BYTES_MAX = 2 * KIB;
const VALUE_CHARS_MAX = 256;
const LITERAL_HEADERS_MAX = 64;
const PREFIXED_HEADERS_MAX = 2;

/** Judges all rules of a service together. */
export function judgeCorsRules(rules: readonly CorsRule[]): FaultCode | null {
  if (rules.length > CORS_RULES_MAX) return "InvalidXmlDocument";
  const words = rules.flatMap(wordsOf);
  const size = words.reduce((sum, word) => sum + Buffer.byteLength(word), 0);
  if (size > TEXT_BYTES_MAX) return "InvalidXmlDocument";
  if (words.some((word) => word === "" || word.length > VALUE_CHARS_MAX)) {
    return "InvalidXmlNodeValue";
  }
  return rules.every(isValid) ? null : "InvalidXmlNodeValue";
}

function wordsOf(rule: CorsRule): string[] {
  const { allowedOrigins, allowedMethods, allowedHeaders, exposedHeaders } = rule;
  return [...allowedOrigins, ...allowedMethods, ...allowedHeaders, ...exposedHeaders];
}

function isValid(rule: CorsRule): boolean {
  return (
    rule.allowedOrigins.length > 0 &&
    rule.allowedMethods.length > 0 &&
    rule.allowedMethods.every((method) => METHODS.includes(method)) &&
    areFewEnough(rule.allowedHeaders) &&
    areFewEnough(rule.exposedHeaders)
  );
}

function areFewEnough(headers: readonly string[]): boolean {
  const prefixed = headers.filter((header) => header !== "*" && header.endsWith("*")).length;
  const literal = headers.filter((header) => !header.endsWith("*")).length;
  return prefixed <= PREFIXED_HEADERS_MAX && literal <= LITERAL_HEADERS_MAX;
}
