import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { parseSddl, writeSddl } from "./sddl.ts";
import {
  ACE_TYPE,
  CONTROL,
  decodeSecurityDescriptor,
  encodeSecurityDescriptor,
  isObjectType,
  type SecurityDescriptor,
  sidText,
} from "./security-descriptor.ts";

/** `O:SYG:BAD:(A;;FA;;;WD)` as Windows lays it out. */
const BYTES = Buffer.from(
  [
    "01000480 14000000 20000000 00000000 30000000",
    "0101000000000005 12000000",
    "0102000000000005 20000000 20020000",
    "02001c00 01000000 00001400 ff011f00 0101000000000001 00000000",
  ]
    .join("")
    .replaceAll(" ", ""),
  "hex",
);

function parsed(text: string): SecurityDescriptor {
  const { descriptor, reason } = parseSddl(text);
  assert.ok(descriptor !== null, `${text}: ${reason}`);
  return descriptor;
}

test("a descriptor has one text and one encoding", () => {
  const descriptor = parsed("O:SYG:BAD:(A;;FA;;;WD)");
  assert.deepEqual(encodeSecurityDescriptor(descriptor), BYTES);
  assert.deepEqual(decodeSecurityDescriptor(BYTES), descriptor);
  assert.equal(writeSddl(descriptor), "O:SYG:BAD:(A;;FA;;;WD)");
});

test("texts that clients send are parsed and formatted unchanged", () => {
  for (const text of [
    "O:S-1-5-21-2127521184-1604012920-1887927527-21560751G:S-1-5-21-2127521184-1604012920-1887927527-513D:AI(A;;FA;;;SY)(A;;FA;;;BA)(A;;0x1200a9;;;S-1-5-21-397955417-626881126-188441444-3053964)",
    "O:BAG:SYD:PARAI(A;OICIIO;GA;;;CO)(D;ID;CCDCSDRC;;;AN)S:P(AU;SAFA;FR;;;WD)(ML;;NWNRNX;;;ME)",
    "D:NO_ACCESS_CONTROL",
    "O:BAG:BAD:",
    "D:P(OA;CI;RP;bf967aba-0de6-11d0-a285-00aa003049e2;;AU)(OD;;WP;;bf967aba-0de6-11d0-a285-00aa003049e2;AU)",
    "O:S-1-0xFFFFFFFFFFFF-1",
    "S:AI",
  ]) {
    const descriptor = parsed(text);
    assert.equal(writeSddl(descriptor), text);
    const bytes = encodeSecurityDescriptor(descriptor);
    assert.ok(bytes !== null);
    assert.deepEqual(decodeSecurityDescriptor(bytes), descriptor);
  }
});

test("variants of a text are parsed to the same descriptor", () => {
  const same = (one: string, other: string) => assert.deepEqual(parsed(one), parsed(other));
  same("o:syg:s-1-5-32-544", "O:S-1-5-18G:BA");
  same("D:(A;;0x1F01FF;;;WD)", "D:(a;;fa;;;wd)");
  same("D:(A;;2032127;;;WD)", "D:(A;;FA;;;WD)");
  same("D:(A;;010;;;WD)", "D:(A;;SW;;;WD)");
  same("D:(A;;FRFX;;;WD)", "D:(A;;0x1200a9;;;WD)");
  same("G:BAO:SY", "O:SYG:BA");
});

const BAD_TEXTS: readonly (readonly [string, RegExp])[] = [
  ["", /empty/],
  ["X:SY", /character 0/],
  ["O:", /a SID is missing/],
  ["O:ZZ", /ZZ is no SID.*write out/],
  ["O:DA", /write out the SID/],
  ["O:S-2-5-18", /no SID/],
  ["O:S-1-5-4294967296", /no SID/],
  ["O:SYO:SY", /twice/],
  ["D:(A;;FA;;;WD)D:", /twice/],
  ["D:(A;;FA;;WD)", /six fields/],
  ["D:(A;;FA;;;WD", /parentheses/],
  ["D:(A;XX;FA;;;WD)", /XX is no flag/],
  ["D:(A;;F;;;WD)", /F is no right/],
  ["D:(A;;0x1ffffffff;;;WD)", /no right/],
  ["D:(A;;4294967296;;;WD)", /32 bits/],
  ["D:(A;;FA;bf967aba-0de6-11d0-a285-00aa003049e2;;WD)", /names an object/],
  ["D:(OA;;FA;bf967aba;;WD)", /no GUID/],
  ['D:(XA;;FX;;;WD;(@User.Title=="PM"))', /parentheses/],
  ["D:(XA;;FX;;;WD)", /type XA are not supported/],
  ["inherit", /character 0/],
];

for (const [text, expected] of BAD_TEXTS) {
  test(`${JSON.stringify(text)} is refused with a reason`, () => {
    const { descriptor, reason } = parseSddl(text);
    assert.equal(descriptor, null);
    assert.match(reason ?? "", expected);
  });
}

const sids = fc
  .tuple(
    fc.oneof(fc.nat(18), fc.integer({ min: 0, max: 2 ** 48 - 1 })),
    fc.array(fc.integer({ min: 0, max: 2 ** 32 - 1 }), { minLength: 1, maxLength: 15 }),
  )
  .map(([authority, subs]) => sidText(authority, subs));
const aces = fc
  .record({
    type: fc.constantFrom(...Object.values(ACE_TYPE)),
    flags: fc.nat(255),
    mask: fc.integer({ min: 0, max: 2 ** 32 - 1 }),
    sid: sids,
    objectType: fc.option(fc.uuid()),
    inheritedObjectType: fc.option(fc.uuid()),
  })
  .map((ace) =>
    isObjectType(ace.type) ? { ...ace } : { ...ace, objectType: null, inheritedObjectType: null },
  );
const acls = fc.option(
  fc.option(fc.array(aces, { maxLength: 20 })).map((entries) => ({ entries })),
);
const control = fc
  .subarray(Object.values(CONTROL))
  .map((bits) => bits.reduce((all, bit) => all | bit, 0));
const descriptors: fc.Arbitrary<SecurityDescriptor> = fc.record({
  owner: fc.option(sids),
  group: fc.option(sids),
  control,
  dacl: acls,
  sacl: acls,
});

test("every descriptor can be encoded and decoded, and formatted and parsed as far as its text goes", () => {
  fc.assert(
    fc.property(descriptors, (made) => {
      const descriptor = { ...made };
      const bytes = encodeSecurityDescriptor(descriptor);
      assert.ok(bytes !== null);
      assert.deepEqual(decodeSecurityDescriptor(bytes), descriptor);
      if (descriptor.dacl === null || descriptor.sacl === null) return;
      assert.deepEqual(parsed(writeSddl(descriptor)), descriptor);
    }),
  );
});

test("damaged bytes never make the decoder throw", () => {
  fc.assert(
    fc.property(descriptors, fc.nat(), fc.nat(255), fc.nat(), (descriptor, at, byte, cut) => {
      const bytes = encodeSecurityDescriptor(descriptor) as Buffer;
      bytes[at % bytes.length] = byte;
      decodeSecurityDescriptor(bytes);
      decodeSecurityDescriptor(bytes.subarray(0, cut % bytes.length));
    }),
  );
});

test("no text makes the parser throw", () => {
  const pieces = fc.constantFrom(
    "O:",
    "G:",
    "D:",
    "S:",
    "(",
    ")",
    ";",
    "A",
    "FA",
    "WD",
    "S-1-5-1",
    "P",
  );
  fc.assert(
    fc.property(fc.array(pieces), (parts) => {
      const { descriptor, reason } = parseSddl(parts.join(""));
      assert.equal(descriptor === null, reason !== null);
    }),
  );
});

test("a descriptor of more than 64 KiB cannot be encoded", () => {
  const ace = parsed("D:(A;;FA;;;WD)").dacl?.entries?.[0];
  assert.ok(ace !== undefined);
  const descriptor = parsed("O:SY");
  const long = (entries: number) => ({
    ...descriptor,
    dacl: { entries: Array(entries).fill(ace) },
  });
  assert.notEqual(encodeSecurityDescriptor(long(3_274)), null);
  assert.equal(encodeSecurityDescriptor(long(3_276)), null);
});
