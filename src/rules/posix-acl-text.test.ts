import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { aclTexts, controlOf } from "./posix-acl.fixture.ts";
import { rootAccessControl, withMode } from "./posix-acl.ts";
import {
  formatAcl,
  formatMode,
  parseAcl,
  parseAclNames,
  parseMode,
  parseUmask,
} from "./posix-acl-text.ts";

const ID = "0c0ffee0-0000-4000-8000-00000000000a";

test("an ACL is shown in one order, whatever the order in which it was given", () => {
  const given =
    "other::--x,group:team:r--,mask::rw-,user:b:---,default:other::---,user::rwx,group::r-x," +
    "default:group::r-x,user:a:-w-,default:user::rwx";
  assert.equal(
    formatAcl(controlOf(given)),
    "user::rwx,user:a:-w-,user:b:---,group::r-x,group:team:r--,mask::rw-,other::--x," +
      "default:user::rwx,default:group::r-x,default:other::---",
  );
  fc.assert(
    fc.property(aclTexts(["a", "b", ID]), (text) => {
      const shown = formatAcl(controlOf(text));
      assert.equal(formatAcl(controlOf(shown)), shown);
      for (const entry of text.split(",")) assert.ok(shown.split(",").includes(entry), entry);
    }),
  );
});

test("a GUID is the same in upper and lower case, other ids are not", () => {
  const names = (text: string) => parseAclNames(text).value?.map(({ id }) => id);
  assert.deepEqual(names(`user:${ID.toUpperCase()}`), [ID]);
  assert.equal(names(`user:${ID.toUpperCase()},user:${ID}`), undefined);
  assert.deepEqual(names("user:Ann,user:ann"), ["Ann", "ann"]);
});

test("an id may contain colons, as the subjects of some issuers do", () => {
  const id = "system:serviceaccount:shop:orders";
  assert.deepEqual(parseAcl(`user:${id}:r-x`).value, [
    { isDefault: false, type: "user", id, rights: 5 },
  ]);
  for (const text of [id, `${id}:`, `${id}:r-x`]) {
    assert.deepEqual(parseAclNames(`default:group:${text}`).value, [
      { isDefault: true, type: "group", id },
    ]);
  }
});

test("what is not an entry is refused, and the reason shows it", () => {
  const wrong = [
    "",
    "user",
    "user:",
    "user::",
    "user::rw",
    "user::rwxx",
    "user::wrx",
    "user::RWX",
    "user::7",
    "user::rwx:",
    "mask:::rwx",
    "User::rwx",
    "owner::rwx",
    "mask:a:rwx",
    "other:a:rwx",
    "default::user::rwx",
    "default",
    "default:",
    "default:default:user::rwx",
    "access:user::rwx",
    "user:a b:rwx",
    "user:ä:rwx",
    "user:\n:rwx",
    `user:${"a".repeat(257)}:rwx`,
    " user::rwx",
  ];
  for (const text of wrong) {
    for (const whole of [text, `user:x:r--,${text}`, `${text},user:x:r--`]) {
      const { value, reason } = parseAcl(whole);
      assert.equal(value, null, whole);
      assert.equal(reason, `"${text}" is not an entry of an ACL.`);
    }
  }
  assert.notEqual(parseAcl(`user:${"a".repeat(256)}:rwx`).value, null);
  assert.notEqual(parseAcl("user:$superuser:rwx,user:ann@example.org:r--").value, null);
});

test("an entry is given once in each of the two ACLs", () => {
  for (const name of ["user:", "user:a", "group:", "group:a", "mask:", "other:"]) {
    const twice = parseAcl(`${name}:rwx,${name}:r--`);
    assert.equal(twice.reason, `"${name}:r--" names an entry twice.`);
    assert.notEqual(parseAcl(`${name}:rwx,default:${name}:r--`).value, null);
    assert.equal(parseAcl(`default:${name}:rwx,default:${name}:rwx`).value, null);
  }
});

test("entries to remove are named with or without rights", () => {
  const named = parseAclNames("mask,default:user,default:group:,user:a,group:b:rwx,other::,user::");
  assert.deepEqual(named.value, [
    { isDefault: false, type: "mask", id: "" },
    { isDefault: true, type: "user", id: "" },
    { isDefault: true, type: "group", id: "" },
    { isDefault: false, type: "user", id: "a" },
    { isDefault: false, type: "group", id: "b" },
    { isDefault: false, type: "other", id: "" },
    { isDefault: false, type: "user", id: "" },
  ]);
  const wrong = [
    "",
    "mask:a",
    "other::rwxx",
    "mask::rwx:x",
    "default",
    "user:a,",
    "mask,mask",
    "user:a b",
  ];
  for (const text of wrong) {
    assert.equal(parseAclNames(text).value, null, text);
  }
});

const ROOT = rootAccessControl(null);

test("all 1024 modes are shown and parsed as letters and as octal digits", () => {
  for (let mode = 0; mode < 0o2000; mode++) {
    const shown = formatMode(withMode(ROOT, mode));
    assert.equal(shown, lettersOf(mode));
    assert.equal(parseMode(shown), mode, shown);
    assert.equal(parseMode(`${shown}+`), mode, shown);
    assert.equal(parseMode(mode.toString(8).padStart(4, "0")), mode);
  }
});

/** As `ls -l` shows a mode. */
function lettersOf(mode: number): string {
  const digits = mode.toString(8).padStart(4, "0");
  const letters = ["---", "--x", "-w-", "-wx", "r--", "r-x", "rw-", "rwx"];
  const plain = [...digits.slice(1)].map((digit) => letters[Number(digit)]).join("");
  if (digits[0] === "0") return plain;
  return plain.slice(0, 8) + (plain[8] === "x" ? "t" : "T");
}

test("a mode of another form is refused", () => {
  const wrong = [
    "",
    "755",
    "00755",
    "2755",
    "4755",
    "0758",
    "0o755",
    "rwx",
    "rwxrwx",
    "rwxrwxrw",
    "rwxrwxrwxx",
    "rwxrwxrws",
    "rwtrwxrwx",
    "rwxrwtrwx",
    "RWXRWXRWX",
    "xwrxwrxwr",
    "rwxr-x---++",
    "+rwxr-x---",
    " rwxr-x---",
    "rwxr-x--\n",
  ];
  for (const text of wrong) assert.equal(parseMode(text), null, text);
});

test("a plus says that the ACL has more entries than the mode shows", () => {
  const plain = "user::rwx,group::r-x,other::---";
  assert.equal(formatMode(controlOf(plain)), "rwxr-x---");
  assert.equal(formatMode(controlOf(`${plain},user:a:rwx`)), "rwxrwx---+");
  assert.equal(formatMode(controlOf(`${plain},mask::r--`)), "rwxr-----+");
  assert.equal(formatMode(controlOf(`${plain},default:user:a:rwx`)), "rwxr-x---+");
  assert.equal(formatMode(controlOf(`${plain},user:a:rwx`, { isSticky: true })), "rwxrwx--T+");
});

test("a umask has four octal digits", () => {
  for (let umask = 0; umask <= 0o777; umask++) {
    assert.equal(parseUmask(umask.toString(8).padStart(4, "0")), umask);
  }
  for (const text of ["", "27", "027", "00027", "1027", "0028", "-027", "rwxr-x---"]) {
    assert.equal(parseUmask(text), null, text);
  }
});
