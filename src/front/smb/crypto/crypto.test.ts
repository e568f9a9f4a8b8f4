import assert from "node:assert/strict";
import { createCipheriv, randomBytes } from "node:crypto";
import { test } from "node:test";
import { unowned } from "../../../base/borrowed-buffer.ts";
import { CIPHER, type CipherId, cipherKeyBytes, Opener, type Opening, Sealer } from "./cipher.ts";
import { CmacKey } from "./cmac.ts";
import { deriveKey } from "./derive-key.ts";
import { md4 } from "./md4.ts";
import { Rc4 } from "./rc4.ts";
import { SIGNING, Signer, type SigningAlgorithm } from "./signer.ts";

const hex = (text: string) => Buffer.from(text.replaceAll(" ", ""), "hex");

test("MD4 matches the digests of RFC 1320", () => {
  const vectors: [string, string][] = [
    ["", "31d6cfe0d16ae931b73c59d7e0c089c0"],
    ["a", "bde52cb31de33e46245e05fbdbd6fb24"],
    ["abc", "a448017aaf21d8525fc10ae87aa6729d"],
    ["message digest", "d9130a8164549fe818874806e1c7014b"],
    ["abcdefghijklmnopqrstuvwxyz", "d79e1c308aa5bbcdeea8ed63df412da9"],
    [
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
      "043f8582f241db351ce627e153e7f0e4",
    ],
    ["1234567890".repeat(8), "e33b4ddc9c38f2199c3e7b164fcc0536"],
  ];
  for (const [text, digest] of vectors)
    assert.equal(md4(Buffer.from(text)).toString("hex"), digest);
});

test("RC4 matches the streams of RFC 6229, in one piece or in several", () => {
  const key = hex("0102030405060708090a0b0c0d0e0f10");
  const stream = "9ac7cc9a609d1ef7b2932899cde41b97";
  assert.equal(new Rc4(key).apply(Buffer.alloc(16)).toString("hex"), stream);
  const rc4 = new Rc4(key);
  const parts = [3, 8, 5].map((length) => rc4.apply(Buffer.alloc(length)));
  assert.equal(Buffer.concat(parts).toString("hex"), stream);
});

test("AES-CMAC matches the codes of RFC 4493", () => {
  const cmac = new CmacKey(hex("2b7e151628aed2a6abf7158809cf4f3c"));
  const message = hex(
    "6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51" +
      "30c81c46a35ce411e5fbc1191a0a52eff69f2445df4f9b17ad2b417be66c3710",
  );
  const vectors: [number, string][] = [
    [0, "bb1d6929e95937287fa37d129b756746"],
    [16, "070a16b46b4d4144f79bdd9dd04a287c"],
    [40, "dfa66747de9ae63030ca32611497c827"],
    [64, "51f0bebf7e3b9d92fc49741779363cfe"],
  ];
  for (const [length, code] of vectors) {
    assert.equal(cmac.mac(message.subarray(0, length)).toString("hex"), code);
  }
});

test("keys are derived as in the published example of SMB 3.0", () => {
  const sessionKey = hex("7CD451825D0450D235424E44BA6E78CC");
  const signing = deriveKey(sessionKey, "SMB2AESCMAC", Buffer.from("SmbSign\0"), 16);
  assert.equal(signing.toString("hex"), "0b7e9c5cac36c0f6ea9ab275298cedce");
});

test("a signature is right for its message, and for no other", () => {
  for (const algorithm of Object.values(SIGNING) as SigningAlgorithm[]) {
    const signer = new Signer(algorithm, Buffer.alloc(16, 7));
    const message = Buffer.alloc(200, 1);
    const by = { server: false, cancel: false };
    signer.sign(message, by);
    assert.equal(signer.isSigned(Buffer.from(message), by), true);
    for (const at of [0, 24, 48, 63, 64, 199]) {
      const changed = Buffer.from(message);
      changed[at] = (changed[at] as number) ^ 1;
      assert.equal(signer.isSigned(changed, by), false, `${algorithm} at ${at}`);
    }
    const longer = Buffer.concat([message, Buffer.alloc(1)]);
    assert.equal(signer.isSigned(longer, by), false);
  }
});

test("checking a signature in parts gives the same result as in one call", () => {
  for (const algorithm of Object.values(SIGNING) as SigningAlgorithm[]) {
    const signer = new Signer(algorithm, Buffer.alloc(16, 7));
    const by = { server: false, cancel: false };
    for (const ends of [[64], [112, 300], [64, 65, 80, 81, 96, 97, 300], [70, 70, 96, 128, 304]]) {
      const message = randomBytes(ends.at(-1) as number);
      signer.sign(message, by);
      for (const isChanged of [false, true]) {
        const parts = ends.map((end, at) => Buffer.from(message.subarray(ends[at - 1] ?? 0, end)));
        const last = parts.at(-1) as Buffer;
        if (isChanged) last[last.length - 1] = (last.at(-1) as number) ^ 1;
        const check = signer.check(parts[0] as Buffer, by);
        for (const part of parts.slice(1)) check.update(part);
        assert.equal(check.isRight(), !isChanged, `${algorithm} at ${ends}`);
      }
    }
  }
});

test("AES-GMAC distinguishes requests, responses and cancellations", () => {
  const signer = new Signer(SIGNING.aesGmac, Buffer.alloc(16, 7));
  const message = Buffer.alloc(64);
  signer.sign(message, { server: true, cancel: false });
  const asRequest = { server: false, cancel: false };
  assert.equal(signer.isSigned(Buffer.from(message), asRequest), false);
  assert.equal(signer.isSigned(Buffer.from(message), { server: true, cancel: true }), false);
  assert.equal(signer.isSigned(Buffer.from(message), { server: true, cancel: false }), true);
});

test("an encrypted text can be decrypted, unless a bit of it was changed", () => {
  for (const id of Object.values(CIPHER) as CipherId[]) {
    const key = Buffer.alloc(cipherKeyBytes(id), 9);
    const sealer = new Sealer(id, key);
    const opener = new Opener(id, key);
    const aad = Buffer.from("header");
    const plain = Buffer.from("hello, sealed world");
    const nonce = sealer.nextNonce();
    const sealed = sealer.seal(nonce, aad, unowned([plain]));
    const [text, tag] = [Buffer.concat(sealed.text), sealed.tag];
    assert.notDeepEqual(text, plain);
    assert.deepEqual(opener.open(nonce, aad, text, tag), plain);
    assert.equal(opener.open(nonce, Buffer.from("Header"), text, tag), null);
    for (const bytes of [nonce, text, tag]) {
      bytes[0] = (bytes[0] as number) ^ 1;
      assert.equal(opener.open(nonce, aad, text, tag), null);
      bytes[0] = (bytes[0] as number) ^ 1;
    }
  }
});

test("a large text is encrypted in steps as in one call, and decrypted unless a bit was changed", () => {
  for (const id of Object.values(CIPHER) as CipherId[]) {
    const key = Buffer.alloc(cipherKeyBytes(id), 9);
    const [sealer, opener] = [new Sealer(id, key), new Opener(id, key)];
    const aad = Buffer.from("header");
    const plain = randomBytes(300_001);
    const parts = [80, 100_000, 250_000, 300_001].map((end, at, ends) =>
      Buffer.from(plain.subarray(ends[at - 1] ?? 0, end)),
    );
    const nonce = sealer.nextNonce();
    const once = sealer.seal(nonce, aad, unowned(parts));
    assert.deepEqual(Buffer.concat(parts), plain, "what is not to be written over is left alone");
    const sealed = sealer.seal(nonce, aad, { parts, mayOverwrite: true, release() {} });
    const [text, tag] = [Buffer.concat(sealed.text), sealed.tag];
    assert.deepEqual([Buffer.concat(once.text), once.tag], [text, tag]);
    if (id === CIPHER.aes128Gcm) {
      const cipher = createCipheriv("aes-128-gcm", key, nonce).setAAD(aad);
      assert.deepEqual(text, cipher.update(plain));
      cipher.final();
      assert.deepEqual(tag, cipher.getAuthTag());
    }
    const changed = Buffer.from(text);
    changed[200_000] = (changed[200_000] as number) ^ 1;
    assert.equal(opener.open(nonce, aad, changed, tag), null);
    assert.deepEqual(opener.open(nonce, aad, text, tag), plain);
  }
});

test("a GCM text can be decrypted in parts, a CCM text only as a whole", () => {
  for (const id of Object.values(CIPHER) as CipherId[]) {
    const key = Buffer.alloc(cipherKeyBytes(id), 9);
    const [sealer, opener] = [new Sealer(id, key), new Opener(id, key)];
    const [aad, plain, nonce] = [Buffer.from("header"), randomBytes(1_000), sealer.nextNonce()];
    const sealed = sealer.seal(nonce, aad, unowned([plain]));
    const text = Buffer.concat(sealed.text);
    const isGcm = id === CIPHER.aes128Gcm || id === CIPHER.aes256Gcm;
    assert.equal(opener.begin(nonce, aad, sealed.tag) !== null, isGcm);
    for (const isChanged of isGcm ? [false, true] : []) {
      if (isChanged) text[999] = (text[999] as number) ^ 1;
      const opening = opener.begin(nonce, aad, sealed.tag) as Opening;
      const parts = [text.subarray(0, 7), text.subarray(7, 500), text.subarray(500)];
      const opened = Buffer.concat(parts.map((part) => opening.update(part)));
      assert.equal(opening.isGenuine(), !isChanged);
      assert.equal(opened.equals(plain), !isChanged);
    }
  }
});

test("AES-GCM matches its standard", () => {
  const gcm = new Sealer(CIPHER.aes128Gcm, Buffer.alloc(16));
  const zeroes = unowned([Buffer.alloc(16)]);
  const { text, tag } = gcm.seal(Buffer.alloc(12), Buffer.alloc(0), zeroes);
  assert.equal(Buffer.concat(text).toString("hex"), "0388dace60b6a392f328c2b971b2fe78");
  assert.equal(tag.toString("hex"), "ab6e47d42cec13bdf53a67b21257bddf");
});

test("no nonce repeats", () => {
  const sealer = new Sealer(CIPHER.aes256Gcm, Buffer.alloc(32));
  const nonces = new Set(Array.from({ length: 10_000 }, () => sealer.nextNonce().toString("hex")));
  assert.equal(nonces.size, 10_000);
});
