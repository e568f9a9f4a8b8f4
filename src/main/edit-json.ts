import type { JsonList, JsonNode, JsonObject } from "./json-text.ts";

/** One level of indentation in files that show none. */
const DEFAULT_INDENT = "  ";

/**
 * Changes to a JSON text that leave everything else as it is: order, blanks and line ends. Each
 * takes nodes of that text and returns the new one.
 */

/** Adds a member in front of the others. */
export function insertMember(
  text: string,
  object: JsonObject,
  name: string,
  value: unknown,
): string {
  const [first] = object.members;
  const member = (indent: string) => `${JSON.stringify(name)}: ${render(text, value, indent)}`;
  if (first === undefined) {
    const inner = indentAt(text, object.start) + unitOf(text);
    const body = `{\n${inner}${member(inner)}\n${indentAt(text, object.start)}}`;
    return splice(text, object, body);
  }
  const isAlone = beginsLine(text, first.start);
  const indent = isAlone ? indentAt(text, first.start) : null;
  const added =
    indent === null
      ? `${JSON.stringify(name)}: ${JSON.stringify(value)}, `
      : `${member(indent)},\n${indent}`;
  return splice(text, { start: first.start, end: first.start }, added);
}

/** Adds an item behind the others. */
export function appendItem(text: string, list: JsonList, value: unknown): string {
  const last = list.items.at(-1);
  if (last === undefined) {
    const outer = indentAt(text, list.start);
    const inner = outer + unitOf(text);
    return splice(text, list, `[\n${inner}${render(text, value, inner)}\n${outer}]`);
  }
  const indent = beginsLine(text, last.start) ? indentAt(text, last.start) : null;
  const added =
    indent === null ? `, ${JSON.stringify(value)}` : `,\n${indent}${render(text, value, indent)}`;
  return splice(text, { start: last.end, end: last.end }, added);
}

/** Removes an item, with its comma and line. */
export function removeItem(text: string, list: JsonList, index: number): string {
  const [before, item, next] = [list.items[index - 1], list.items[index], list.items[index + 1]];
  if (item === undefined) return text;
  if (next !== undefined) return splice(text, { start: item.start, end: next.start }, "");
  if (before !== undefined) return splice(text, { start: before.end, end: item.end }, "");
  return splice(text, list, "[]");
}

export function replaceValue(text: string, node: JsonNode, value: unknown): string {
  return splice(text, node, JSON.stringify(value));
}

function splice(
  text: string,
  { start, end }: Pick<JsonNode, "start" | "end">,
  put: string,
): string {
  return text.slice(0, start) + withLineEndsOf(text, put) + text.slice(end);
}

function withLineEndsOf(text: string, put: string): string {
  return text.includes("\r\n") ? put.replaceAll("\n", "\r\n") : put;
}

function render(text: string, value: unknown, indent: string): string {
  return JSON.stringify(value, null, unitOf(text)).replaceAll("\n", `\n${indent}`);
}

/** The indentation of the first indented line. */
function unitOf(text: string): string {
  return /^([ \t]+)\S/m.exec(text)?.[1] ?? DEFAULT_INDENT;
}

/** The blanks at the beginning of the line of an offset. */
function indentAt(text: string, offset: number): string {
  return /^[ \t]*/.exec(lineBefore(text, offset))?.[0] ?? "";
}

function beginsLine(text: string, offset: number): boolean {
  return text.lastIndexOf("\n", offset - 1) >= 0 && lineBefore(text, offset).trim() === "";
}

function lineBefore(text: string, offset: number): string {
  return text.slice(text.lastIndexOf("\n", offset - 1) + 1, offset);
}
