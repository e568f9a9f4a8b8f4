import type { Bytes } from "../base/bytes.ts";
import { alignedBytes, alignedMemory } from "./aligned-bytes.ts";
import { compile, get, I32, I32_SUB, i32, MEMORY_FILL } from "./wasm-code.ts";

/** Allocates aligned memory that is all zeros. */
export function zeroedBytes(bytes: number): Bytes {
  const zeroed = alignedBytes(bytes);
  clearMemory(zeroed.byteOffset, zeroed.byteOffset + bytes);
  return zeroed;
}

const AT = 0;
const UNTIL = 1;

/** Zeroes aligned memory. `Buffer.fill(0)` would be slow: it writes shared memory bytewise. */
export const clearMemory = compile<(at: number, until: number) => void>(
  {
    parameters: [I32, I32],
    results: [],
    locals: [],
    code: [...get(AT), ...i32(0), ...get(UNTIL), ...get(AT), I32_SUB, ...MEMORY_FILL],
  },
  alignedMemory,
);
