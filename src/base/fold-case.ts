/**
 * Folds a text to upper case, unit by unit, independent of locale, context and runtime. Names that
 * differ only in case are one key of the store, so the result must never change: hence a table of
 * our own instead of `toUpperCase`.
 */
export function foldCase(text: string): string {
  if (ASCII.test(text)) return text.toUpperCase();
  table ??= upperCases();
  let folded = "";
  for (let at = 0; at < text.length; at++) {
    folded += String.fromCharCode(table[text.charCodeAt(at)] as number);
  }
  return folded;
}

const ASCII = /^[\0-\x7f]*$/;

/**
 * The letters of Unicode 17 whose upper case is one unit: `first[..last][/step]` in hexadecimal,
 * and the number to add to each unit. No other letter becomes an ASCII letter (as the Turkish
 * dotless i and the long s would).
 */
const RUNS = [
  "61..7a-32",
  "b5+743 e0..f6-32 f8..fe-32 ff+121 101..12f/2-1 133..137/2-1 13a..148/2-1 14b..177/2-1",
  "17a..17e/2-1 180+195 183..185/2-1 188-1 18c-1 192-1 195+97 199-1 19a+163 19b+42561 19e+130",
  "1a1..1a5/2-1 1a8-1 1ad-1 1b0-1 1b4..1b6/2-1 1b9-1 1bd-1 1bf+56 1c5-1 1c6-2 1c8-1 1c9-2",
  "1cb-1 1cc-2 1ce..1dc/2-1 1dd-79 1df..1ef/2-1 1f2-1 1f3-2 1f5-1 1f9..21f/2-1 223..233/2-1",
  "23c-1 23f..240+10815 242-1 247..24f/2-1 250+10783 251+10780 252+10782 253-210 254-206",
  "256..257-205 259-202 25b-203 25c+42319 260-205 261+42315 263-207 264+42343 265+42280",
  "266+42308 268-209 269-211 26a+42308 26b+10743 26c+42305 26f-211 271+10749 272-213",
  "275-214 27d+10727 280-218 282+42307 283-218 287+42282 288-218 289-69 28a..28b-217 28c-71",
  "292-219 29d+42261 29e+42258 345+84 371..373/2-1 377-1 37b..37d+130 3ac-38 3ad..3af-37",
  "3b1..3c1-32 3c2-31 3c3..3cb-32 3cc-64 3cd..3ce-63 3d0-62 3d1-57 3d5-47 3d6-54 3d7-8",
  "3d9..3ef/2-1 3f0-86 3f1-80 3f2+7 3f3-116 3f5-96 3f8-1 3fb-1 430..44f-32 450..45f-80",
  "461..481/2-1 48b..4bf/2-1 4c2..4ce/2-1 4cf-15 4d1..52f/2-1 561..586-48 10d0..10fa+3008",
  "10fd..10ff+3008 13f8..13fd-8 1c80-6254 1c81-6253 1c82-6244 1c83..1c84-6242 1c85-6243",
  "1c86-6236 1c87-6181 1c88+35266 1c8a-1 1d79+35332 1d7d+3814 1d8e+35384 1e01..1e95/2-1",
  "1e9b-59 1ea1..1eff/2-1 1f00..1f07+8 1f10..1f15+8 1f20..1f27+8 1f30..1f37+8 1f40..1f45+8",
  "1f51..1f57/2+8 1f60..1f67+8 1f70..1f71+74 1f72..1f75+86 1f76..1f77+100 1f78..1f79+128",
  "1f7a..1f7b+112 1f7c..1f7d+126 1fb0..1fb1+8 1fbe-7205 1fd0..1fd1+8 1fe0..1fe1+8 1fe5+7 214e-28",
  "2170..217f-16 2184-1 24d0..24e9-26 2c30..2c5f-48 2c61-1 2c65-10795 2c66-10792 2c68..2c6c/2-1",
  "2c73-1 2c76-1 2c81..2ce3/2-1 2cec..2cee/2-1 2cf3-1 2d00..2d25-7264 2d27-7264 2d2d-7264",
  "a641..a66d/2-1 a681..a69b/2-1 a723..a72f/2-1 a733..a76f/2-1 a77a..a77c/2-1 a77f..a787/2-1",
  "a78c-1 a791..a793/2-1 a794+48 a797..a7a9/2-1 a7b5..a7c3/2-1 a7c8..a7ca/2-1 a7cd..a7db/2-1",
  "a7f6-1 ab53-928 ab70..abbf-38864 ff41..ff5a-32",
];

const RUN = /([0-9a-f]+)(?:\.\.([0-9a-f]+))?(?:\/(\d))?([-+]\d+)/g;

/** Made at the first use: most names are ASCII. */
let table: Uint16Array | null = null;

function upperCases(): Uint16Array {
  const made = new Uint16Array(0x1_0000);
  for (let unit = 0; unit < made.length; unit++) made[unit] = unit;
  for (const [, from, to, step, added] of RUNS.join(" ").matchAll(RUN)) {
    const first = Number.parseInt(from as string, 16);
    const last = to === undefined ? first : Number.parseInt(to, 16);
    for (let unit = first; unit <= last; unit += Number(step ?? 1))
      made[unit] = unit + Number(added);
  }
  return made;
}
