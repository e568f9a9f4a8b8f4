import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { PIECE_BYTES } from "../../../base/fair-queue.ts";
import { Fault } from "../../../base/fault.ts";
import { DECODED_BYTES } from "../../../base/utf8-text.ts";
import { parseXml, parseXmlInSteps, type XmlElement } from "./parse-xml.ts";

function parse(text: string): XmlElement {
  return parseXml(Buffer.from(text));
}

function refusal(document: string | Buffer): Fault["detail"] {
  let detail: Fault["detail"] = {};
  assert.throws(
    () => parseXml(Buffer.from(document)),
    (error) => {
      assert.ok(error instanceof Fault, String(error));
      assert.equal(error.code, "InvalidXmlDocument");
      detail = error.detail;
      return true;
    },
    String(document).slice(0, 200),
  );
  return detail;
}

function refused(document: string | Buffer, reason: RegExp): void {
  assert.match(refusal(document).Reason as string, reason);
}

test("a document becomes a tree of names, attributes, children and text", () => {
  const root = parse(
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\n' +
      "<!-- a policy -->\n" +
      "<SignedIdentifiers><SignedIdentifier n='1'><Id >a b</Id><Empty/></SignedIdentifier>" +
      "</SignedIdentifiers>\n<!-- the end -->\n",
  );
  assert.equal(root.name, "SignedIdentifiers");
  const [identifier] = root.children;
  assert.equal(identifier?.name, "SignedIdentifier");
  assert.equal(identifier?.attributes.get("n"), "1");
  assert.deepEqual(
    identifier?.children.map(({ name, text }) => [name, text]),
    [
      ["Id", "a b"],
      ["Empty", ""],
    ],
  );
});

test("a byte order mark is accepted, and so is a missing declaration", () => {
  assert.equal(parse("\ufeff<a>x</a>").text, "x");
  assert.equal(parse('\ufeff<?xml version="1.0"?><a>x</a>').text, "x");
  assert.equal(parse("<a>x</a>").text, "x");
});

test("references, CDATA and line ends become the characters they stand for", () => {
  assert.equal(parse("<a>&lt;&gt;&amp;&quot;&apos;&#65;&#x1F600;</a>").text, "<>&\"'A\u{1f600}");
  assert.equal(parse("<a>1<![CDATA[<b>&amp;]]>2<!-- 3 -->4</a>").text, "1<b>&amp;24");
  assert.equal(parse("<a>1\r\n2\r3\n4&#13;</a>").text, "1\n2\n3\n4\r");
  assert.equal(parse('<a b="1\r\n2\t3&#10;"/>').attributes.get("b"), "1 2 3\n");
});

test("namespaces are ignored: prefixes and declarations are dropped", () => {
  const root = parse(
    '<s:a xmlns:s="urn:x" xmlns="urn:y" i:nil="true"><b xmlns="urn:z">1</b></s:a>',
  );
  assert.equal(root.name, "a");
  assert.deepEqual([...root.attributes], [["i:nil", "true"]]);
  assert.equal(root.children[0]?.text, "1");
});

test("names like __proto__ and constructor are ordinary names", () => {
  const root = parse('<__proto__ constructor="1" __proto__="2"><toString/></__proto__>');
  assert.equal(root.name, "__proto__");
  assert.equal(root.attributes.get("__proto__"), "2");
  assert.equal(root.attributes.get("toString"), undefined);
  assert.equal(({} as Record<string, unknown>).constructor, Object);
});

test("documents that are not well-formed are refused", () => {
  const wrong: [string, RegExp][] = [
    ["", /Root element is missing/],
    [" \n", /Root element is missing/],
    ["<!-- only -->", /Root element is missing/],
    ["text", /outside the root/],
    ["<a/>text", /outside the root/],
    ["<a/><b/>", /more than one root/],
    ["<a/></a>", /more than one root/],
    ["<a>", /no end tag/],
    ["<a><b></a></b>", /end tag of b/],
    ["<a></ab>", /end tag of a/],
    ["<a:b></c:b>", /end tag of a:b/],
    ["<a", /White space/],
    ["<a b='1'", /White space/],
    ["<a/", /no end/],
    ["<a b/>", /equals sign/],
    ["<a b=1/>", /quoted value/],
    ["<a b='1/>", /has no end/],
    ["<a b='1'c='2'/>", /White space/],
    ["<a b='1' b='2'/>", /twice/],
    ["<a b='<'/>", /must not contain </],
    ["<1/>", /name is expected/],
    ["< a/>", /name is expected/],
    ["<a:></a:>", /without a name/],
    ["<a>&nbsp;</a>", /no character/],
    ["<a>&#0;</a>", /no character/],
    ["<a>&#xD800;</a>", /no character/],
    ["<a>&#x110000;</a>", /no character/],
    ["<a>&#x;</a>", /no character/],
    ["<a>&#1e1;</a>", /no character/],
    ["<a>&amp</a>", /no character/],
    ["<a>&</a>", /no character/],
    ["<a b='&'/>", /no character/],
    ["<a>]]></a>", /must not contain \]\]>/],
    ["<a><![CDATA[x</a>", /CDATA section has no end/],
    ["<a><!-- x</a>", /comment/],
    ["<a><!-- -- --></a>", /comment/],
    ["<a>\u0001</a>", /does not permit/],
    ["<a>\uffff</a>", /does not permit/],
    ['<?xml version="1.0"?', /has no end/],
    ['<?xml version="1.1"?><a/>', /version must be 1\.0/],
    ['<?xml encoding="utf-8"?><a/>', /version must be 1\.0/],
    ['<?xml version="1.0" encoding="utf-16"?><a/>', /must be UTF-8/],
    ['<a/><?xml version="1.0"?>', /more than one root/],
    ["<a><?php x?></a>", /Processing instructions/],
  ];
  for (const [document, reason] of wrong) refused(document, reason);
});

test("the refusal says where the document is wrong", () => {
  assert.deepEqual(refusal("<a>\n  <b>&x;</b>\n</a>"), {
    LineNumber: "2",
    LinePosition: "6",
    Reason: "A reference names no character.",
  });
});

test("bytes that are not UTF-8 are refused", () => {
  refused(Buffer.from([0x3c, 0x61, 0x3e, 0xff, 0x3c, 0x2f, 0x61, 0x3e]), /not UTF-8/);
  refused(Buffer.from("<a>x</a>", "utf16le"), /does not permit/);
  // An overlong encoding of a slash.
  refused(Buffer.from([0x3c, 0x61, 0xc0, 0xaf, 0x3e]), /not UTF-8/);
});

test("document types and entities are refused without being read", () => {
  refused("<!DOCTYPE a><a/>", /Document types/);
  refused('<!DOCTYPE a [<!ENTITY b "bbb"><!ENTITY c "&b;&b;&b;">]><a>&c;</a>', /Document types/);
  refused('<!DOCTYPE a SYSTEM "file:///etc/passwd"><a/>', /Document types/);
  refused("<a><!ENTITY b 'c'></a>", /Document types/);
});

test("depth, elements, attributes, names and references are limited", () => {
  const nested = (depth: number) => "<a>".repeat(depth) + "</a>".repeat(depth);
  assert.equal(parse(nested(32)).name, "a");
  refused(nested(33), /nested too deeply/);
  refused("<a>".repeat(100_000), /nested too deeply/);
  refused(`<a>${"<b/>".repeat(200_000)}</a>`, /too many parts/);
  refused(`<a>${"&lt;".repeat(200_000)}</a>`, /too many parts/);
  refused(`<a>${"<!---->".repeat(200_000)}</a>`, /too many parts/);
  refused(`<a>${"<![CDATA[]]>".repeat(200_000)}</a>`, /too many parts/);
  refused(`<a b="${"x".repeat(4 * 1024 * 1024)}"/>`, /too long/);
  const attributes = Array.from({ length: 400_000 }, (_, at) => `a${at}=""`).join(" ");
  refused(`<a ${attributes}/>`, /too many attributes/);
  refused(`<${"a".repeat(4 * 1024 * 1024)}/>`, /too long/);
});

test("the longest block list, and a longer one, are read whole", () => {
  const list = (blocks: number) =>
    `<BlockList>${"<Latest>QQ==</Latest>".repeat(blocks)}</BlockList>`;
  assert.equal(parse(list(50_000)).children.length, 50_000);
  assert.equal(parse(list(100_000)).children.length, 100_000);
});

test("any bytes give a tree or an InvalidXmlDocument", () => {
  const piece = fc.constantFrom(
    ..."<>/=!?&;'\"- ab\n\r#x[]:\u0001é\u{1f600}",
    "<a>",
    "</a>",
    "<!--",
    "-->",
    "<![CDATA[",
    "]]>",
    "<?xml version='1.0'?>",
    "&amp;",
    "&#65;",
    " b='1'",
  );
  const document = fc.oneof(
    fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(pieces.join(""))),
    fc.array(piece, { maxLength: 30 }).map((pieces) => Buffer.from(`<a>${pieces.join("")}</a>`)),
    fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
  );
  fc.assert(
    fc.property(document, (bytes) => {
      try {
        assert.ok(parseXml(bytes).name.length > 0);
      } catch (error) {
        assert.ok(error instanceof Fault && error.code === "InvalidXmlDocument", String(error));
      }
    }),
    { numRuns: 5_000 },
  );
});

test("line ends become line feeds, unless they are to be preserved", () => {
  const document = Buffer.from("<a>1\r\n2\r3\n<![CDATA[4\r\n5\r]]>&#13;</a>");
  assert.equal(parseXml(document).text, "1\n2\n3\n4\n5\n\r");
  assert.equal(parseXml(document, { keepLineEnds: true }).text, "1\r\n2\r3\n4\r\n5\r\r");
});

/** Returns the number of pauses while reading a document, and its root. */
function steps(document: string): [pauses: number, root: XmlElement] {
  const reading = parseXmlInSteps(Buffer.from(document));
  for (let pauses = 0; ; pauses++) {
    const step = reading.next();
    if (step.done === true) return [pauses, step.value];
  }
}

const LONG_CHARS = 20 * PIECE_BYTES;

test("a document is decoded with pauses, before any of it is parsed", () => {
  const reading = parseXmlInSteps(Buffer.from(`not XML ${"ä".repeat(DECODED_BYTES)}`));
  for (let pauses = 0; pauses < 2; pauses++) assert.equal(reading.next().done, false);
  assert.throws(() => reading.next(), Fault);
});

test("reading a long document pauses after each piece, whatever it consists of", () => {
  const contents = [
    "\r",
    `&amp;${"x".repeat(95)}`,
    `<!--${"x".repeat(30)}-->`,
    '<Latest a="1" b="2">YQ==</Latest>',
    `<n${"ä".repeat(500)} />`,
    `<![CDATA[${"\r".repeat(LONG_CHARS / 4)}]]>`,
  ];
  for (const content of contents) {
    const document = `<a>${content.repeat(Math.ceil(LONG_CHARS / content.length))}</a>`;
    const [pauses] = steps(document);
    assert.ok(pauses >= 15, `${pauses} pauses in ${document.slice(0, 30)}`);
  }
});

test("the position of a pause within a long text does not matter", () => {
  const units = ["x", "\r\n", "\r", "\n", "&amp;", "&#x1F600;", "]", "]]", "é"];
  for (let shift = 0; shift < 20; shift++) {
    const text = "y".repeat(shift) + units.join("").repeat((3 * PIECE_BYTES) / units.length);
    const expected = text
      .replace(/\r\n?/g, "\n")
      .replaceAll("&amp;", "&")
      .replaceAll("&#x1F600;", "\u{1f600}");
    assert.ok(steps(`<a>${text}</a>`)[1].text === expected);
    const raw = text.replace(/\r\n?/g, "\n");
    assert.ok(steps(`<a><![CDATA[${text}]]></a>`)[1].text === raw);
    const before = "z".repeat(PIECE_BYTES - shift);
    refused(`<a>${before}]]>${"z".repeat(3 * PIECE_BYTES)}</a>`, /must not contain/);
    refused(`<a>${before}&amp${"z".repeat(3 * PIECE_BYTES)}</a>`, /names no character/);
  }
});
