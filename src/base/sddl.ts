import { parseGuid } from "./ids.ts";
import {
  ACE_TYPE,
  type Ace,
  type Acl,
  CONTROL,
  isObjectType,
  parseSid,
  type SecurityDescriptor,
  type Sid,
  sidText,
} from "./security-descriptor.ts";

/** The security descriptor of a text, or the reason why it is refused. */
export type SddlParsed =
  | { readonly descriptor: SecurityDescriptor; readonly reason: null }
  | { readonly descriptor: null; readonly reason: string };

/** Parses `O:SYG:BAD:PAI(A;OICI;FA;;;WD)`: owner, group and lists of entries, each at most once. */
export function parseSddl(text: string): SddlParsed {
  try {
    return { descriptor: new Parser(text).descriptor(), reason: null };
  } catch (error) {
    if (!(error instanceof SddlError)) throw error;
    return { descriptor: null, reason: error.message };
  }
}

export function writeSddl({ owner, group, control, dacl, sacl }: SecurityDescriptor): string {
  let text = "";
  if (owner !== null) text += `O:${sidWord(owner)}`;
  if (group !== null) text += `G:${sidWord(group)}`;
  if (dacl !== null) text += `D:${flagWords(control, DACL_FLAGS)}${aclText(dacl)}`;
  if (sacl !== null) text += `S:${flagWords(control, SACL_FLAGS)}${aclText(sacl)}`;
  return text;
}

/** Thrown only inside this file: `parseSddl` returns its message as the reason. */
class SddlError extends Error {}

type Words = readonly (readonly [string, number])[];

const DACL_FLAGS: Words = [
  ["P", CONTROL.daclProtected],
  ["AR", CONTROL.daclAutoInheritRequested],
  ["AI", CONTROL.daclAutoInherited],
];
const SACL_FLAGS: Words = [
  ["P", CONTROL.saclProtected],
  ["AR", CONTROL.saclAutoInheritRequested],
  ["AI", CONTROL.saclAutoInherited],
];
const NULL_ACL = "NO_ACCESS_CONTROL";

const TYPES: Words = [
  ["A", ACE_TYPE.allow],
  ["D", ACE_TYPE.deny],
  ["AU", ACE_TYPE.audit],
  ["AL", ACE_TYPE.alarm],
  ["OA", ACE_TYPE.allowObject],
  ["OD", ACE_TYPE.denyObject],
  ["OU", ACE_TYPE.auditObject],
  ["OL", ACE_TYPE.alarmObject],
  ["ML", ACE_TYPE.mandatoryLabel],
];

const ACE_FLAGS: Words = [
  ["OI", 0x01],
  ["CI", 0x02],
  ["NP", 0x04],
  ["IO", 0x08],
  ["ID", 0x10],
  ["CR", 0x20],
  ["SA", 0x40],
  ["FA", 0x80],
];

/** Names of several rights together, used only if exactly these are allowed. */
const WHOLE_RIGHTS: Words = [
  ["FA", 0x1f01ff],
  ["FR", 0x120089],
  ["FW", 0x120116],
  ["FX", 0x1200a0],
  ["KA", 0xf003f],
  ["KR", 0x20019],
  ["KW", 0x20006],
  ["KX", 0x20019],
];
const BIT_RIGHTS: Words = [
  ["GA", 0x10000000],
  ["GX", 0x20000000],
  ["GW", 0x40000000],
  ["GR", 0x80000000],
  ["CC", 0x1],
  ["DC", 0x2],
  ["LC", 0x4],
  ["SW", 0x8],
  ["RP", 0x10],
  ["WP", 0x20],
  ["DT", 0x40],
  ["LO", 0x80],
  ["CR", 0x100],
  ["SD", 0x10000],
  ["RC", 0x20000],
  ["WD", 0x40000],
  ["WO", 0x80000],
];
const LABEL_RIGHTS: Words = [
  ["NW", 0x1],
  ["NR", 0x2],
  ["NX", 0x4],
];
const ANY_RIGHTS: Words = [...WHOLE_RIGHTS, ...BIT_RIGHTS, ...LABEL_RIGHTS];

/** The names that mean the same everywhere. Others stand for members of a domain, which we lack. */
const SIDS: readonly (readonly [string, Sid])[] = [
  ["WD", "S-1-1-0"],
  ["CO", "S-1-3-0"],
  ["CG", "S-1-3-1"],
  ["OW", "S-1-3-4"],
  ["NU", "S-1-5-2"],
  ["IU", "S-1-5-4"],
  ["SU", "S-1-5-6"],
  ["AN", "S-1-5-7"],
  ["ED", "S-1-5-9"],
  ["PS", "S-1-5-10"],
  ["AU", "S-1-5-11"],
  ["RC", "S-1-5-12"],
  ["SY", "S-1-5-18"],
  ["LS", "S-1-5-19"],
  ["NS", "S-1-5-20"],
  ["WR", "S-1-5-33"],
  ["UD", "S-1-5-84-0-0-0-0-0"],
  ["BA", "S-1-5-32-544"],
  ["BU", "S-1-5-32-545"],
  ["BG", "S-1-5-32-546"],
  ["PU", "S-1-5-32-547"],
  ["AO", "S-1-5-32-548"],
  ["SO", "S-1-5-32-549"],
  ["PO", "S-1-5-32-550"],
  ["BO", "S-1-5-32-551"],
  ["RE", "S-1-5-32-552"],
  ["RU", "S-1-5-32-554"],
  ["RD", "S-1-5-32-555"],
  ["NO", "S-1-5-32-556"],
  ["MU", "S-1-5-32-558"],
  ["LU", "S-1-5-32-559"],
  ["IS", "S-1-5-32-568"],
  ["CY", "S-1-5-32-569"],
  ["ER", "S-1-5-32-573"],
  ["CD", "S-1-5-32-574"],
  ["RA", "S-1-5-32-575"],
  ["ES", "S-1-5-32-576"],
  ["MS", "S-1-5-32-577"],
  ["HA", "S-1-5-32-578"],
  ["AA", "S-1-5-32-579"],
  ["RM", "S-1-5-32-580"],
  ["AC", "S-1-15-2-1"],
  ["LW", "S-1-16-4096"],
  ["ME", "S-1-16-8192"],
  ["MP", "S-1-16-8448"],
  ["HI", "S-1-16-12288"],
  ["SI", "S-1-16-16384"],
  ["AS", "S-1-18-1"],
  ["SS", "S-1-18-2"],
];
const SID_OF_WORD: ReadonlyMap<string, string> = new Map(SIDS);
const WORD_OF_SID: ReadonlyMap<string, string> = new Map(SIDS.map(([word, sid]) => [sid, word]));

class Parser {
  readonly #text: string;
  #at = 0;

  constructor(text: string) {
    this.#text = text;
  }

  descriptor(): SecurityDescriptor {
    let owner: Sid | null = null;
    let group: Sid | null = null;
    let control = 0;
    let dacl: Acl | null = null;
    let sacl: Acl | null = null;
    let seen = "";
    while (this.#at < this.#text.length) {
      const part = this.#take(/[OGDS]:/iy, "O:, G:, D: or S:")
        .charAt(0)
        .toUpperCase();
      if (seen.includes(part)) throw new SddlError(`${part}: stands there twice`);
      seen += part;
      if (part === "O") owner = this.#owner();
      else if (part === "G") group = this.#owner();
      else if (part === "D") {
        control |= this.#flags(DACL_FLAGS);
        dacl = this.#acl();
      } else {
        control |= this.#flags(SACL_FLAGS);
        sacl = this.#acl();
      }
    }
    if (seen === "") throw new SddlError("it is empty");
    return { owner, group, control, dacl, sacl };
  }

  #owner(): Sid {
    return sidOf(this.#take(/S-[0-9A-FX-]+(?![:])|[A-Z]{2}/iy, "a SID"));
  }

  #flags(words: Words): number {
    let flags = 0;
    for (;;) {
      const found = words.find(([word]) => this.#text.startsWith(word, this.#at));
      if (found === undefined) return flags;
      flags |= found[1];
      this.#at += found[0].length;
    }
  }

  #acl(): Acl {
    if (this.#text.startsWith(NULL_ACL, this.#at)) {
      this.#at += NULL_ACL.length;
      return { entries: null };
    }
    const entries: Ace[] = [];
    while (this.#text[this.#at] === "(") {
      entries.push(aceOf(this.#take(/\([^()]*\)/y, "an entry in parentheses").slice(1, -1)));
    }
    return { entries };
  }

  #take(pattern: RegExp, what: string): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0];
    if (found === undefined) throw new SddlError(`at character ${this.#at}, ${what} is missing`);
    this.#at += found.length;
    return found;
  }
}

function aceOf(text: string): Ace {
  const fields = text.split(";").map((field) => field.trim());
  const [typeWord, flags, rights, object, inherited, sid] = fields as [string, ...string[]];
  const type = TYPES.find(([word]) => word === typeWord?.toUpperCase())?.[1];
  if (type === undefined) throw new SddlError(`entries of type ${typeWord} are not supported`);
  if (fields.length !== 6) throw new SddlError(`(${text}) must have six fields`);
  const isObject = isObjectType(type);
  if (!isObject && (object !== "" || inherited !== "")) {
    throw new SddlError(`(${text}) names an object, which its type has none of`);
  }
  return {
    type,
    flags: bitsOf(flags as string, ACE_FLAGS, "flag"),
    mask: maskOf(rights as string),
    sid: sidOf(sid as string),
    objectType: guidOf(object as string),
    inheritedObjectType: guidOf(inherited as string),
  };
}

function maskOf(text: string): number {
  if (/^(0x[0-9a-f]{1,8}|\d{1,10})$/i.test(text)) {
    const octal = /^0[0-7]+$/.test(text);
    const mask = octal ? Number.parseInt(text, 8) : Number(text);
    if (mask >= 2 ** 32) throw new SddlError(`${text} has more than 32 bits`);
    return mask;
  }
  return bitsOf(text, ANY_RIGHTS, "right");
}

function bitsOf(text: string, words: Words, what: string): number {
  let bits = 0;
  for (let at = 0; at < text.length; at += 2) {
    const word = text.slice(at, at + 2).toUpperCase();
    const found = words.find(([known]) => known === word);
    if (found === undefined) throw new SddlError(`${word} is no ${what}`);
    bits = (bits | found[1]) >>> 0;
  }
  return bits;
}

function guidOf(text: string): string | null {
  if (text === "") return null;
  const guid = parseGuid(text);
  if (guid === null) throw new SddlError(`${text} is no GUID`);
  return guid;
}

function sidOf(text: string): Sid {
  const known = SID_OF_WORD.get(text.toUpperCase());
  if (known !== undefined) return known;
  const parts = parseSid(text);
  if (parts !== null) return sidText(parts.authority, parts.subs);
  const hint = /^[A-Z]{2}$/i.test(text) ? ": write out the SID that it stands for" : "";
  throw new SddlError(`${text} is no SID known here${hint}`);
}

function aclText({ entries }: Acl): string {
  return entries === null ? NULL_ACL : entries.map(aceText).join("");
}

function aceText(ace: Ace): string {
  const type = TYPES.find(([, number]) => number === ace.type)?.[0];
  const { objectType, inheritedObjectType, sid } = ace;
  const fields = [type, flagWords(ace.flags, ACE_FLAGS), rightsText(ace)];
  fields.push(objectType ?? "", inheritedObjectType ?? "", sidWord(sid));
  return `(${fields.join(";")})`;
}

/** Names the rights if every bit has a name, else writes a number. */
function rightsText({ type, mask }: Ace): string {
  const isLabel = type === ACE_TYPE.mandatoryLabel;
  const whole = isLabel ? undefined : WHOLE_RIGHTS.find(([, bits]) => bits === mask);
  if (whole !== undefined) return whole[0];
  const words = isLabel ? LABEL_RIGHTS : BIT_RIGHTS;
  const named = words.reduce((all, [, bit]) => (all | bit) >>> 0, 0);
  return (mask & ~named) === 0 ? flagWords(mask, words) : `0x${mask.toString(16)}`;
}

function flagWords(bits: number, words: Words): string {
  return words.map(([word, bit]) => ((bits & bit) !== 0 ? word : "")).join("");
}

function sidWord(sid: Sid): string {
  return WORD_OF_SID.get(sid) ?? sid;
}
