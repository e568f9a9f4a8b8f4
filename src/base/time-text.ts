import type { Instant } from "./clock.ts";

/**
 * Formats and parses dates of HTTP and of Azure Storage. Parsing is strict: any other form, or a
 * day that does not exist, gives null. `Date.parse` would accept nearly anything.
 */

const DAYS = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"];
const LONG_DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

const SECOND_MS = 1_000;
const DAY_SECONDS = 86_400;
const DAY_MS = DAY_SECONDS * SECOND_MS;
const FRACTION_DIGITS_MAX = 7;
/** Two-digit years from this one on are 19xx, the others 20xx (as in POSIX). */
const FIRST_YEAR_OF_1900S = 69;

const TWO_DIGITS = Array.from({ length: 60 }, (_, number) => String(number).padStart(2, "0"));

let lastDay = Number.NaN;
let lastDayText = "";
let lastSecond = Number.NaN;
let lastText = "";

/** `Mon, 16 Nov 2026 00:17:23 GMT`. Caches the last day and second: lists format many dates. */
export function rfc1123(instant: Instant): string {
  const second = Math.floor(instant / SECOND_MS);
  if (second !== lastSecond) {
    const day = Math.floor(second / DAY_SECONDS);
    if (day !== lastDay) {
      lastDayText = new Date(day * DAY_MS).toUTCString().slice(0, "Mon, 16 Nov 2026 ".length);
      lastDay = day;
    }
    lastText = `${lastDayText}${timeOfDay(second - day * DAY_SECONDS)} GMT`;
    lastSecond = second;
  }
  return lastText;
}

/** `00:17:23`, for a second of a day. */
export function timeOfDay(second: number): string {
  const hour = TWO_DIGITS[Math.floor(second / 3_600)];
  const minute = TWO_DIGITS[Math.floor(second / 60) % 60];
  return `${hour}:${minute}:${TWO_DIGITS[second % 60]}`;
}

/** `2026-11-16T00:17:23Z`: whole seconds. With a fraction: `isoOfStamp(stampOf(instant))`. */
export function isoTime(instant: Instant): string {
  return `${new Date(instant).toISOString().slice(0, -5)}Z`;
}

/** Parses a date of an HTTP header: RFC 1123, or one of the two obsolete forms. */
export function parseHttpDate(text: string): Instant | null {
  if (text.charAt(3) === ",") return parseRfc1123(text);
  if (text.charAt(3) === " ") return parseAsctime(text);
  return parseRfc850(text);
}

/**
 * Parses a time of a SAS, a stored policy or a key request: `2026-11-16`,
 * `2026-11-16T00:17Z`, `2026-11-16T00:17:23Z`, and the last with a fraction of up to 7 digits
 * (read down to the millisecond).
 */
export function parseIsoTime(text: string): Instant | null {
  if (text.charAt(4) !== "-" || text.charAt(7) !== "-") return null;
  const day = dayOf(digits(text, 0, 4), digits(text, 5, 2), digits(text, 8, 2));
  if (text.length === 10 || day === null) return day === null ? null : day * DAY_MS;
  if (text.charAt(10) !== "T" || text.charAt(13) !== ":" || !text.endsWith("Z")) return null;
  const [hour, minute] = [digits(text, 11, 2), digits(text, 14, 2)];
  if (text.length === 17) return instantOf(day, hour, minute, 0);
  if (text.charAt(16) !== ":") return null;
  const whole = instantOf(day, hour, minute, digits(text, 17, 2));
  if (text.length === 20 || whole === null) return whole;
  const fractionDigits = text.length - 21;
  if (text.charAt(19) !== "." || fractionDigits > FRACTION_DIGITS_MAX) return null;
  const fraction = digits(text, 20, fractionDigits);
  if (Number.isNaN(fraction)) return null;
  return whole + Math.floor((fraction * SECOND_MS) / 10 ** fractionDigits);
}

/** `Mon, 16 Nov 2026 00:17:23 GMT` */
function parseRfc1123(text: string): Instant | null {
  if (text.length !== 29 || !text.endsWith(" GMT") || text.charAt(4) !== " ") return null;
  if (text.charAt(7) !== " " || text.charAt(11) !== " " || text.charAt(16) !== " ") return null;
  const day = dayOf(digits(text, 12, 4), monthOf(text.slice(8, 11)), digits(text, 5, 2));
  return onDay(day, DAYS.indexOf(text.slice(0, 3)), text.slice(17, 25));
}

/** `Mon Nov 16 00:17:23 2026`, a day below 10 after two spaces. */
function parseAsctime(text: string): Instant | null {
  if (text.length !== 24 || text.charAt(7) !== " ") return null;
  if (text.charAt(10) !== " " || text.charAt(19) !== " ") return null;
  const date = text.charAt(8) === " " ? digits(text, 9, 1) : digits(text, 8, 2);
  const day = dayOf(digits(text, 20, 4), monthOf(text.slice(4, 7)), date);
  return onDay(day, DAYS.indexOf(text.slice(0, 3)), text.slice(11, 19));
}

/** `Monday, 16-Nov-26 00:17:23 GMT` */
function parseRfc850(text: string): Instant | null {
  const comma = text.indexOf(", ");
  const rest = text.slice(comma + 2);
  if (comma < 0 || rest.length !== 22 || !rest.endsWith(" GMT")) return null;
  if (rest.charAt(2) !== "-" || rest.charAt(6) !== "-" || rest.charAt(9) !== " ") return null;
  const short = digits(rest, 7, 2);
  const year = short < FIRST_YEAR_OF_1900S ? 2000 + short : 1900 + short;
  const day = dayOf(year, monthOf(rest.slice(3, 6)), digits(rest, 0, 2));
  return onDay(day, LONG_DAYS.indexOf(text.slice(0, comma)), rest.slice(10, 18));
}

/** The instant of `hh:mm:ss` on a day; null if it is not the given weekday. */
function onDay(day: number | null, weekday: number, time: string): Instant | null {
  // 1 January 1970 was a Thursday.
  if (day === null || (((day + 4) % 7) + 7) % 7 !== weekday) return null;
  if (time.charAt(2) !== ":" || time.charAt(5) !== ":") return null;
  return instantOf(day, digits(time, 0, 2), digits(time, 3, 2), digits(time, 6, 2));
}

function instantOf(day: number, hour: number, minute: number, second: number): Instant | null {
  // Comparisons with NaN are false, so digits that are not a number are refused here, too.
  if (!(hour < 24 && minute < 60 && second < 60)) return null;
  return day * DAY_MS + ((hour * 60 + minute) * 60 + second) * SECOND_MS;
}

/** Days since 1970; null if there is no such day. */
function dayOf(year: number, month: number, date: number): number | null {
  if (!(year >= 1 && month >= 1 && month <= 12 && date >= 1)) return null;
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0);
  const length = month === 2 ? (leap ? 29 : 28) : 30 + ((month + (month >> 3)) & 1);
  if (date > length) return null;
  // Counts years from March, so that the leap day is last and months need no table.
  const y = month <= 2 ? year - 1 : year;
  const m = month <= 2 ? month + 9 : month - 3;
  const leapDays = Math.floor(y / 4) - Math.floor(y / 100) + Math.floor(y / 400);
  return y * 365 + leapDays + Math.floor((m * 153 + 2) / 5) + date - 719_469;
}

/** 1 to 12; 0 if there is no such month. */
function monthOf(name: string): number {
  return MONTHS.indexOf(name) + 1;
}

/** Parses exactly this many digits; NaN if one is not a digit. */
function digits(text: string, at: number, count: number): number {
  if (count < 1) return Number.NaN;
  let value = 0;
  for (let i = at; i < at + count; i++) {
    const digit = text.charCodeAt(i) - 0x30;
    if (!(digit >= 0 && digit <= 9)) return Number.NaN;
    value = value * 10 + digit;
  }
  return value;
}
