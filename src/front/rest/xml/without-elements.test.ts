import assert from "node:assert/strict";
import { test } from "node:test";
import { metadataElement } from "../list-elements.ts";
import { withoutElements } from "./without-elements.ts";
import { attribute, element, XML_DECLARATION } from "./write-xml.ts";

const PATHS = new Set(["A/P/Young", "A/Q", "Next"]);

test("elements are removed with their content, whatever surrounds them", () => {
  const cases: [string, string][] = [
    ["<A><P><Young>x</Young><Old>y</Old></P></A>", "<A><P><Old>y</Old></P></A>"],
    ["<A><P><Old /><Young /></P></A>", "<A><P><Old /></P></A>"],
    ["<A><Q><P><Young>x</Young></P></Q><P /></A>", "<A><P /></A>"],
    ["<A><Q a='1'><Q>x</Q></Q></A>", "<A></A>"],
    ["<A><Q>x</Q></A><A><Q>y</Q><R>z</R></A>", "<A></A><A><R>z</R></A>"],
    ["</A></List><Next>m</Next></Results>", "</A></List></Results>"],
    [`${XML_DECLARATION}<A><Q>x</Q><R /></A>`, `${XML_DECLARATION}<A><R /></A>`],
  ];
  for (const [xml, expected] of cases) assert.equal(withoutElements(xml, PATHS), expected);
});

test("the same name at another path is another element, notably in metadata", () => {
  const metadata = metadataElement([
    ["Q", "1"],
    ["Young", "2"],
  ]);
  const xml = `<A>${metadata}<P>${element("Q", "3")}</P></A>`;
  assert.equal(withoutElements(xml, PATHS), xml);
});

test("text and attributes that look like tags are preserved", () => {
  const unchanged = `<A${attribute("n", '"/><Q>')}>${element("R", "<Q>x</Q>/>")}</A>`;
  assert.equal(withoutElements(unchanged, PATHS), unchanged);
  const cut = `<A><Q${attribute("n", "a>b")}>${element("R", "</Q>")}</Q></A>`;
  assert.equal(withoutElements(cut, PATHS), "<A></A>");
});
