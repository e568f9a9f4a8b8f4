import { isUtf8 } from "node:buffer";
import type { Bytes } from "../../../base/bytes.ts";
import { atOnce, PIECE_BYTES, type Steps } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { textInSteps } from "../../../base/utf8-text.ts";
import { hasInvalidXmlCharacters, XML_INVALID } from "./write-xml.ts";

/** An element of a parsed document. Its name has no namespace prefix. */
export interface XmlElement {
  readonly name: string;
  /** By name as sent, without namespace declarations. */
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text directly in this element, without that of its children. */
  readonly text: string;
}

export interface ParseOptions {
  /** Preserves carriage returns in texts. By default XML converts every line end to a line feed. */
  readonly keepLineEnds?: boolean;
}

const DEPTH_MAX = 32;
/**
 * Limits elements, comments, CDATA sections and references together. Twice the longest block list,
 * so that a longer list is still parsed and refused with its own error.
 */
const PIECES_MAX = 100_002;
const ATTRIBUTES_MAX = 32;
const ATTRIBUTE_CHARS_MAX = 4_096;
const NAME_CHARS_MAX = 1_024;
/** Room for leading zeros; the longest reference without them is `&#x10FFFF;`. */
const REFERENCE_CHARS_MAX = 16;
const CODE_POINT_MAX = 0x10ffff;
/** Larger than a piece, as searching is faster than parsing. */
const SEARCHED_CHARS = 8 * PIECE_BYTES;

/**
 * Parses the body of a request. Accepts the XML 1.0 in UTF-8 that clients of the service write, and
 * refuses what attacks use: document types, entities other than the five predefined ones,
 * processing instructions. Time and memory grow only with the length of the input, which the caller
 * limits. Throws `InvalidXmlDocument` if it is not well-formed.
 */
export function parseXml(bytes: Bytes, options?: ParseOptions): XmlElement {
  return atOnce(parseXmlInSteps(bytes, options));
}

/** Parses in steps, between which other work can run. */
export function* parseXmlInSteps(bytes: Bytes, options: ParseOptions = {}): Steps<XmlElement> {
  if (!isUtf8(bytes)) throw invalidXml("", 0, "The document is not UTF-8.");
  const document = yield* textInSteps(bytes);
  for (let at = 0; at < document.length; at += SEARCHED_CHARS) {
    if (at > 0) yield;
    const invalid = document.slice(at, at + SEARCHED_CHARS).search(XML_INVALID);
    if (invalid >= 0) {
      throw invalidXml(document, at + invalid, "XML does not permit this character.");
    }
  }
  return yield* new Parser(document, options.keepLineEnds ?? false).document();
}

interface OpenElement extends XmlElement {
  /** With its prefix, as the end tag must repeat it. */
  readonly tag: string;
  readonly attributes: Map<string, string>;
  children: XmlElement[];
  text: string;
}

// Most elements have no attributes and no children: they share these, which stay empty.
const NO_ATTRIBUTES = new Map<string, string>();
const NO_CHILDREN: XmlElement[] = [];

const TAB = 0x09;
const LINE_FEED = 0x0a;
const CARRIAGE_RETURN = 0x0d;
const SPACE = 0x20;
const EXCLAMATION_MARK = 0x21;
const SLASH = 0x2f;
const EQUALS = 0x3d;
const GREATER = 0x3e;
const QUESTION_MARK = 0x3f;

const BYTE_ORDER_MARK = "\ufeff";
const CDATA = "<![CDATA[";
const CDATA_END = "]]>";

class Parser {
  readonly #source: string;
  readonly #keepLineEnds: boolean;
  readonly #open: OpenElement[] = [];
  #at = 0;
  #pieces = 0;
  /** The position of the next pause. */
  #pauseAt = PIECE_BYTES;
  /** The end of a CDATA section that is partly read; null outside of one. */
  #cdataEnd: number | null = null;

  constructor(source: string, keepLineEnds: boolean) {
    this.#source = source;
    this.#keepLineEnds = keepLineEnds;
  }

  *document(): Steps<XmlElement> {
    if (this.#source.startsWith(BYTE_ORDER_MARK)) this.#at++;
    this.#declaration();
    yield* this.#betweenElements();
    if (this.#at >= this.#source.length) this.#refuse("Root element is missing.");
    const root = this.#startTag();
    while (this.#open.length > 0) {
      if (this.#isPauseDue()) yield;
      this.#content();
    }
    yield* this.#betweenElements();
    if (this.#at < this.#source.length) this.#refuse("There is more than one root element.");
    return root;
  }

  #declaration(): void {
    if (!this.#source.startsWith("<?xml", this.#at) || !isSpace(this.#code(5))) return;
    this.#at += "<?xml".length;
    const attributes = this.#attributes();
    if (!this.#source.startsWith("?>", this.#at)) this.#refuse("The XML declaration has no end.");
    if (attributes.get("version") !== "1.0") this.#refuse("The XML version must be 1.0.");
    const encoding = attributes.get("encoding");
    if (encoding !== undefined && encoding.toLowerCase() !== "utf-8") {
      this.#refuse("The encoding must be UTF-8.");
    }
    this.#at += "?>".length;
  }

  #isPauseDue(): boolean {
    if (this.#at < this.#pauseAt) return false;
    this.#pauseAt = this.#at + PIECE_BYTES;
    return true;
  }

  /** Only white space and comments may surround the root. */
  *#betweenElements(): Steps<void> {
    for (;;) {
      if (this.#isPauseDue()) yield;
      this.#skipSpace();
      if (this.#at >= this.#source.length) return;
      if (!this.#source.startsWith("<", this.#at)) this.#refuse("Text outside the root element.");
      if (this.#code(1) !== EXCLAMATION_MARK) return;
      this.#comment();
    }
  }

  /**
   * Reads text up to the next tag and then that tag, inside the innermost open element; or a part
   * of a long text.
   */
  #content(): void {
    const element = this.#open.at(-1) as OpenElement;
    const start = this.#at;
    if (this.#cdataEnd !== null) {
      this.#addCdata(element, this.#cdataEnd);
      return;
    }
    const end = this.#source.indexOf("<", start);
    if (end < 0) this.#refuse(`The element ${element.tag} has no end tag.`);
    if (end - start > 2 * PIECE_BYTES) {
      const partEnd = endOfTextPart(this.#source, start + PIECE_BYTES);
      element.text += this.#textOf(this.#source.slice(start, partEnd));
      this.#at = partEnd;
      return;
    }
    if (end > start) element.text += this.#textOf(this.#source.slice(start, end));
    this.#at = end;
    const next = this.#code(1);
    if (next === SLASH) this.#endTag(element);
    else if (next !== EXCLAMATION_MARK) this.#startTag();
    else if (this.#source.startsWith(CDATA, end)) this.#cdata(element);
    else this.#comment();
  }

  #startTag(): OpenElement {
    if (this.#code(1) === QUESTION_MARK) this.#refuse("Processing instructions are not accepted.");
    this.#countPiece();
    if (this.#open.length >= DEPTH_MAX) this.#refuse("Elements are nested too deeply.");
    this.#at++;
    const tag = this.#name();
    const attributes = this.#code(0) === GREATER ? NO_ATTRIBUTES : this.#attributes();
    const name = tag.slice(tag.indexOf(":") + 1);
    if (name === "") this.#refuse("A prefix without a name.");
    const element: OpenElement = { name, tag, attributes, children: NO_CHILDREN, text: "" };
    const parent = this.#open.at(-1);
    if (parent !== undefined) {
      if (parent.children === NO_CHILDREN) parent.children = [];
      parent.children.push(element);
    }
    if (this.#code(0) === SLASH) this.#at++;
    else this.#open.push(element);
    if (this.#code(0) !== GREATER) this.#refuse(`The start tag ${tag} has no end.`);
    this.#at++;
    return element;
  }

  #endTag(element: OpenElement): void {
    this.#at += "</".length;
    if (!this.#source.startsWith(element.tag, this.#at)) {
      this.#refuse(`The end tag of ${element.tag} is expected here.`);
    }
    this.#at += element.tag.length;
    this.#skipSpace();
    if (this.#code(0) !== GREATER) this.#refuse(`The end tag of ${element.tag} is expected here.`);
    this.#at++;
    this.#open.pop();
  }

  /** Stops at the first character that is neither white space nor part of an attribute. */
  #attributes(): Map<string, string> {
    let found: Map<string, string> | null = null;
    for (let count = 0; ; count++) {
      const spaced = this.#skipSpace();
      const next = this.#code(0);
      const ends = next === GREATER || next === SLASH || next === QUESTION_MARK;
      if (ends) return found ?? NO_ATTRIBUTES;
      if (!spaced) this.#refuse("White space is expected here.");
      if (count >= ATTRIBUTES_MAX) this.#refuse("The element has too many attributes.");
      const name = this.#name();
      const value = this.#attributeValue();
      if (name === "xmlns" || name.startsWith("xmlns:")) continue;
      found ??= new Map();
      if (found.has(name)) this.#refuse(`The attribute ${name} is there twice.`);
      found.set(name, value);
    }
  }

  #attributeValue(): string {
    this.#skipSpace();
    if (this.#code(0) !== EQUALS) this.#refuse("An equals sign is expected here.");
    this.#at++;
    this.#skipSpace();
    const quote = this.#source.charAt(this.#at);
    if (quote !== '"' && quote !== "'") this.#refuse("A quoted value is expected here.");
    const start = this.#at + 1;
    // Searches a slice, so that a missing quote does not scan the rest of the document.
    const length = this.#source.slice(start, start + ATTRIBUTE_CHARS_MAX).indexOf(quote);
    if (length < 0) this.#refuse("An attribute has no end, or is too long.");
    const raw = this.#source.slice(start, start + length);
    if (raw.includes("<")) this.#refuse("An attribute must not contain <.");
    this.#at = start;
    const value = this.#expand(raw.replace(/\r\n|[\t\n\r]/g, " "));
    this.#at = start + length + 1;
    return value;
  }

  /**
   * Reads a name: ASCII letters, digits and `-._:`, and everything beyond ASCII; no digit, `-` or
   * `.` first.
   */
  #name(): string {
    const start = this.#at;
    const limit = start + NAME_CHARS_MAX;
    while (isNameCode(this.#code(0)) && this.#at < limit) this.#at++;
    if (this.#at === limit) this.#refuse("A name is too long.");
    if (this.#at === start || !isNameStart(this.#source.charCodeAt(start))) {
      this.#refuse("A name is expected here.");
    }
    return this.#source.slice(start, this.#at);
  }

  #textOf(raw: string): string {
    if (raw.includes(CDATA_END)) this.#refuse("Text must not contain ]]>.");
    return this.#expand(this.#withLineFeeds(raw));
  }

  #cdata(element: OpenElement): void {
    this.#countPiece();
    const start = this.#at + CDATA.length;
    const end = this.#source.indexOf(CDATA_END, start);
    if (end < 0) this.#refuse("A CDATA section has no end.");
    this.#at = start;
    this.#addCdata(element, end);
  }

  /** Adds at most one piece of the section. */
  #addCdata(element: OpenElement, end: number): void {
    const start = this.#at;
    const isLast = end - start <= 2 * PIECE_BYTES;
    const partEnd = isLast ? end : endOfTextPart(this.#source, start + PIECE_BYTES);
    element.text += this.#withLineFeeds(this.#source.slice(start, partEnd));
    this.#at = isLast ? end + CDATA_END.length : partEnd;
    this.#cdataEnd = isLast ? null : end;
  }

  #comment(): void {
    if (!this.#source.startsWith("<!--", this.#at)) {
      this.#refuse("Document types are not accepted, nor anything else that begins with <!.");
    }
    this.#countPiece();
    const end = this.#source.indexOf("--", this.#at + "<!--".length);
    if (end < 0 || this.#source.charCodeAt(end + 2) !== GREATER) {
      this.#refuse("A comment has no end, or -- in it.");
    }
    this.#at = end + "-->".length;
  }

  /** Replaces character references. */
  #expand(raw: string): string {
    let from = raw.indexOf("&");
    if (from < 0) return raw;
    const parts: string[] = [];
    let done = 0;
    for (; from >= 0; from = raw.indexOf("&", done)) {
      this.#countPiece();
      const length = raw.slice(from, from + REFERENCE_CHARS_MAX).indexOf(";");
      const character = length < 0 ? null : characterOf(raw.slice(from + 1, from + length));
      if (character === null) this.#refuse("A reference names no character.");
      parts.push(raw.slice(done, from), character);
      done = from + length + 1;
    }
    parts.push(raw.slice(done));
    return parts.join("");
  }

  /** Converts all line ends to line feeds, as XML requires. */
  #withLineFeeds(raw: string): string {
    if (this.#keepLineEnds || !raw.includes("\r")) return raw;
    return raw.replace(/\r\n?/g, "\n");
  }

  #countPiece(): void {
    if (++this.#pieces > PIECES_MAX) this.#refuse("The document has too many parts.");
  }

  #skipSpace(): boolean {
    const start = this.#at;
    while (isSpace(this.#code(0))) this.#at++;
    return this.#at > start;
  }

  /** Returns the character this far ahead; NaN after the end, which equals nothing. */
  #code(ahead: number): number {
    return this.#source.charCodeAt(this.#at + ahead);
  }

  #refuse(reason: string): never {
    throw invalidXml(this.#source, this.#at, reason);
  }
}

/**
 * Returns a position near `at` where a text can be split: not in a reference, a line end or `]]>`.
 */
function endOfTextPart(source: string, at: number): number {
  const before = source.slice(at - REFERENCE_CHARS_MAX, at);
  const reference = before.lastIndexOf("&");
  if (reference >= 0 && !before.includes(";", reference)) {
    return at - REFERENCE_CHARS_MAX + reference;
  }
  if (source.slice(at - 1, at + 1) === "\r\n") return at + 1;
  return source.slice(at - 2, at + 2).includes(CDATA_END) ? at + 2 : at;
}

const NAMED: ReadonlyMap<string, string> = new Map([
  ["amp", "&"],
  ["lt", "<"],
  ["gt", ">"],
  ["quot", '"'],
  ["apos", "'"],
]);

/** Returns the character for the text between `&` and `;`. */
function characterOf(reference: string): string | null {
  if (!reference.startsWith("#")) return NAMED.get(reference) ?? null;
  const hexadecimal = reference.startsWith("#x");
  const digits = reference.slice(hexadecimal ? 2 : 1);
  if (!(hexadecimal ? /^[\da-fA-F]+$/ : /^\d+$/).test(digits)) return null;
  const point = Number.parseInt(digits, hexadecimal ? 16 : 10);
  const surrogate = point >= 0xd800 && point <= 0xdfff;
  if (surrogate || point > CODE_POINT_MAX) return null;
  const character = String.fromCodePoint(point);
  return hasInvalidXmlCharacters(character) ? null : character;
}

function isSpace(code: number): boolean {
  return code === SPACE || code === LINE_FEED || code === CARRIAGE_RETURN || code === TAB;
}

function isNameCode(code: number): boolean {
  return isNameStart(code) || (code >= 0x30 && code <= 0x39) || code === 0x2d || code === 0x2e;
}

function isNameStart(code: number): boolean {
  const lower = code | 0x20;
  return (lower >= 0x61 && lower <= 0x7a) || code === 0x5f || code === 0x3a || code >= 0x80;
}

/** Lines and columns count from 1. */
function invalidXml(document: string, at: number, reason: string): Fault {
  let line = 1;
  let lineStart = 0;
  for (let i = 0; i < at; i++) {
    if (document.charCodeAt(i) !== LINE_FEED) continue;
    line++;
    lineStart = i + 1;
  }
  return new Fault("InvalidXmlDocument", {
    LineNumber: String(line),
    LinePosition: String(at - lineStart + 1),
    Reason: reason,
  });
}
