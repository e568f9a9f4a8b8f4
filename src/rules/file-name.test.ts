import assert from "node:assert/strict";
import { test } from "node:test";
import { fileNameKey, judgeFileName, judgeFilePath, withoutTrailingDots } from "./file-name.ts";

test("a name has 1 to 255 UTF-16 units", () => {
  assert.equal(judgeFileName(""), "InvalidResourceName");
  assert.equal(judgeFileName("a"), null);
  assert.equal(judgeFileName("ü".repeat(255)), null);
  assert.equal(judgeFileName("ü".repeat(256)), "InvalidFileOrDirectoryPathName");
});

test("path separators, wildcards and control characters are refused", () => {
  for (const sign of '"\\/:|<>*?\u0000\u0001\u001f\u007f\u0080\u009f') {
    assert.equal(judgeFileName(`a${sign}b`), "InvalidResourceName", JSON.stringify(sign));
  }
});

test("device names are refused in any case, and only as whole names", () => {
  const devices = ["prn", "aux", "nul", "con", "clock$", ".", ".."];
  for (const digit of "123456789") devices.push(`lpt${digit}`, `com${digit}`);
  for (const name of devices) {
    assert.equal(judgeFileName(name), "InvalidResourceName", name);
    assert.equal(judgeFileName(name.toUpperCase()), "InvalidResourceName", name);
    assert.equal(judgeFileName(`${name}x`), null, name);
  }
  for (const name of ["com0", "lpt10", "con.txt", "...", "clock"]) {
    assert.equal(judgeFileName(name), null, name);
  }
});

test("half a surrogate pair is refused", () => {
  for (const name of ["\ud800", "a\udfffb", "\ude00\ud83d", "😀\ud83d"]) {
    assert.equal(judgeFileName(name), "InvalidResourceName", JSON.stringify(name));
  }
});

test("everything else is a valid name", () => {
  for (const name of [" a ", "a.", "ünï", "😀", "%41", "a;b", "{}[]+=&#~`'^!@,"]) {
    assert.equal(judgeFileName(name), null, name);
  }
});

test("a path has up to 250 names and 2,048 characters, separators included", () => {
  assert.equal(judgeFilePath([]), null);
  assert.equal(judgeFilePath(Array(250).fill("a")), null);
  assert.equal(judgeFilePath(Array(251).fill("a")), "InvalidFileOrDirectoryPathName");
  const long = Array(8).fill("a".repeat(255));
  assert.equal(judgeFilePath([...long]), null);
  assert.equal(judgeFilePath([...long, ""]), "InvalidResourceName");
  assert.equal(judgeFilePath([...long, "a"]), "InvalidFileOrDirectoryPathName");
  assert.equal(judgeFilePath(["a", "b:c", "d"]), "InvalidResourceName");
});

test("names that differ in case have one key, all others different ones", () => {
  assert.equal(fileNameKey("Straße.TXT"), fileNameKey("sTRAßE.txt"));
  assert.notEqual(fileNameKey("straße"), fileNameKey("strasse"));
});

test("trailing dots are removed, except from . and .. themselves", () => {
  assert.equal(withoutTrailingDots("a.b..."), "a.b");
  assert.equal(withoutTrailingDots("a"), "a");
  assert.equal(withoutTrailingDots("..."), "");
  assert.equal(withoutTrailingDots("."), ".");
  assert.equal(withoutTrailingDots(".."), "..");
});
