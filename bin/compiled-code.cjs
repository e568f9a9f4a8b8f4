"use strict";

const fs = require("node:fs");
const { createRequire, wrap } = require("node:module");
const path = require("node:path");
const vm = require("node:vm");
const { crc32 } = require("node:zlib");

const CHECKSUM_BYTES = 4;
/** Code that has grown by less is not stored again. */
const GROWTH_MIN = 1.01;

/**
 * Loads a CommonJS file like `require`, with the code that earlier processes have compiled and
 * stored in `folder`. Returns its exports, whether stored code was used, and `store`, which stores
 * what has been compiled by then: V8 compiles a function when it is first called, and Node's own
 * compile cache has none of these functions.
 *
 * The folder has one file for each version of Node. Stored code that is missing, damaged or of
 * another source is not used; a folder that cannot be written stays as it is.
 */
module.exports = function loadWithCompiledCode(file, folder) {
  const stored = path.join(folder, `${path.basename(file)}-${process.version}-${process.arch}`);
  const source = fs.readFileSync(file, "utf8");
  const sourceSum = crc32(source);
  const cachedData = readCode(stored, sourceSum);
  const script = new vm.Script(wrap(source), {
    filename: file,
    cachedData,
    importModuleDynamically: vm.constants.USE_MAIN_CONTEXT_DEFAULT_LOADER,
  });
  // V8 itself refuses code of another version, or for other flags.
  const isCached = script.cachedDataRejected === false;
  const bytes = isCached ? cachedData.length : 0;
  const module = { exports: {} };
  const run = script.runInThisContext();
  run(module.exports, createRequire(file), module, file, path.dirname(file));
  const store = () => storeCode(stored, script.createCachedData(), sourceSum, bytes);
  return { exports: module.exports, isCached, store };
};

/** Undefined if there is no code that is sound and of this source. */
function readCode(stored, sourceSum) {
  try {
    const bytes = fs.readFileSync(stored);
    const code = bytes.subarray(CHECKSUM_BYTES);
    return bytes.readUInt32LE(0) === checksumOf(code, sourceSum) ? code : undefined;
  } catch {
    return undefined;
  }
}

function storeCode(stored, code, sourceSum, bytesBefore) {
  if (code.length < bytesBefore * GROWTH_MIN) return;
  const checksum = Buffer.alloc(CHECKSUM_BYTES);
  checksum.writeUInt32LE(checksumOf(code, sourceSum));
  // Other processes find the whole file or none.
  const unfinished = `${stored}.${process.pid}`;
  try {
    fs.mkdirSync(path.dirname(stored), { recursive: true, mode: 0o700 });
    fs.writeFileSync(unfinished, Buffer.concat([checksum, code]), { mode: 0o600 });
    fs.renameSync(unfinished, stored);
  } catch {
    removeIfThere(unfinished);
  }
}

function removeIfThere(file) {
  try {
    fs.unlinkSync(file);
  } catch {
    // It was not written, or the whole folder cannot be.
  }
}

/** Of the code and its source: V8 would compare no more than the length of the source. */
function checksumOf(code, sourceSum) {
  return crc32(code, sourceSum);
}
