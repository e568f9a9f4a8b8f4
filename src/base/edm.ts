/**
 * Types and text format of entity properties in the Table service. An entity stores its properties
 * as the JSON that most clients ask for, so that reading needs no conversion.
 */

export const EDM_TYPES = [
  "Edm.Binary",
  "Edm.Boolean",
  "Edm.DateTime",
  "Edm.Double",
  "Edm.Guid",
  "Edm.Int32",
  "Edm.Int64",
  "Edm.String",
] as const;

export type EdmType = (typeof EDM_TYPES)[number];

/** A property of an entity. */
export interface Property {
  /** An identifier, which needs no escaping. */
  readonly name: string;
  readonly type: EdmType;
  /** The value as JSON, in canonical form. */
  readonly json: string;
}

const ANNOTATION = "@odata.type";
const TYPE_CHARS_MAX = "Edm.DateTime".length;

/** Whether the type needs an annotation, because the JSON does not show it. */
export function isAnnotated({ type, json }: Property): boolean {
  switch (type) {
    case "Edm.Boolean":
    case "Edm.Int32":
    case "Edm.String":
      return false;
    case "Edm.Double":
      // NaN and the infinities are strings in JSON.
      return json.startsWith('"');
    default:
      return true;
  }
}

/** Formats `,"name":value`, after a type annotation if the value needs one. */
export function formatProperty(property: Property): string {
  const { name, type, json } = property;
  const plain = `,"${name}":${json}`;
  return isAnnotated(property) ? `,"${name}${ANNOTATION}":"${type}"${plain}` : plain;
}

export function formatProperties(properties: Iterable<Property>): string {
  let text = "";
  for (const property of properties) text += formatProperty(property);
  return text;
}

/** Parses the output of `formatProperties`, in its order. */
export function readProperties(text: string): Property[] {
  const found: Property[] = [];
  let annotated: EdmType | null = null;
  for (let at = 0; at < text.length; ) {
    const nameEnd = text.indexOf('"', at + 2);
    const name = text.slice(at + 2, nameEnd);
    const valueEnd = endOfValue(text, nameEnd + 2);
    const json = text.slice(nameEnd + 2, valueEnd);
    at = valueEnd;
    if (name.endsWith(ANNOTATION)) {
      annotated = json.slice(1, -1) as EdmType;
    } else {
      found.push({ name, type: annotated ?? typeOf(json), json });
      annotated = null;
    }
  }
  return found;
}

/**
 * Finds one property in the output of `formatProperties`, without parsing the others. A plain
 * search is enough: inside a string every quote is escaped, so the pattern cannot occur there.
 */
export function findProperty(text: string, name: string): Property | null {
  const start = text.indexOf(`,"${name}":`);
  if (start < 0) return null;
  const valueStart = start + name.length + 4;
  const json = text.slice(valueStart, endOfValue(text, valueStart));
  const isText = json.charCodeAt(0) === QUOTE;
  const annotated = isText ? annotationBefore(text, start, name) : null;
  return { name, type: annotated ?? typeOf(json), json };
}

/** The annotation of a value that is a string in JSON, or null. */
function annotationBefore(text: string, end: number, name: string): EdmType | null {
  const annotation = `,"${name}${ANNOTATION}":"`;
  const before = text.slice(Math.max(0, end - annotation.length - TYPE_CHARS_MAX - 1), end);
  const at = before.indexOf(annotation);
  return at < 0 ? null : (before.slice(at + annotation.length, -1) as EdmType);
}

/** The type of a value that has no annotation. */
function typeOf(json: string): EdmType {
  switch (json.charCodeAt(0)) {
    case QUOTE:
      return "Edm.String";
    case SMALL_F:
    case SMALL_T:
      return "Edm.Boolean";
    default:
      return /[.e]/.test(json) ? "Edm.Double" : "Edm.Int32";
  }
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const SMALL_F = 0x66;
const SMALL_T = 0x74;

function endOfValue(text: string, start: number): number {
  if (text.charCodeAt(start) !== QUOTE) {
    const comma = text.indexOf(",", start);
    return comma < 0 ? text.length : comma;
  }
  for (let at = start; ; ) {
    at = text.indexOf('"', at + 1);
    if (at < 0) throw new RangeError("a text in a record has no end");
    let slashes = 0;
    while (text.charCodeAt(at - 1 - slashes) === BACKSLASH) slashes++;
    if (slashes % 2 === 0) return at + 1;
  }
}
