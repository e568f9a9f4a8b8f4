import type { Bytes } from "../../../base/bytes.ts";

const BLOCK_BYTES = 64;
const LENGTH_BYTES = 8;

/** For each of the three rounds: the constant to add, the bit rotations, the order of the words. */
const ROUNDS = [
  {
    add: 0,
    rotations: [3, 7, 11, 19],
    order: [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
    mix: (x: number, y: number, z: number) => (x & y) | (~x & z),
  },
  {
    add: 0x5a827999,
    rotations: [3, 5, 9, 13],
    order: [0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15],
    mix: (x: number, y: number, z: number) => (x & y) | (x & z) | (y & z),
  },
  {
    add: 0x6ed9eba1,
    rotations: [3, 9, 11, 15],
    order: [0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15],
    mix: (x: number, y: number, z: number) => x ^ y ^ z,
  },
];

/** MD4 (RFC 1320). NTLM needs it for passwords, and OpenSSL no longer offers it. */
export function md4(message: Bytes): Bytes {
  const padded = pad(message);
  const state: State = [0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476];
  for (let at = 0; at < padded.length; at += BLOCK_BYTES) digestBlock(state, padded, at);
  const digest = Buffer.alloc(16);
  state.forEach((word, index) => {
    digest.writeUInt32LE(word >>> 0, index * 4);
  });
  return digest;
}

type State = [number, number, number, number];

function pad(message: Bytes): Bytes {
  const blocks = Math.ceil((message.length + 1 + LENGTH_BYTES) / BLOCK_BYTES);
  const padded = Buffer.alloc(blocks * BLOCK_BYTES);
  message.copy(padded);
  padded[message.length] = 0x80;
  padded.writeBigUInt64LE(BigInt(message.length) * 8n, padded.length - LENGTH_BYTES);
  return padded;
}

function digestBlock(state: State, bytes: Bytes, at: number): void {
  let [a, b, c, d] = state;
  for (const { add, rotations, order, mix } of ROUNDS) {
    order.forEach((word, step) => {
      const sum = (a + mix(b, c, d) + bytes.readUInt32LE(at + word * 4) + add) | 0;
      const rotation = rotations[step % 4] as number;
      [a, b, c, d] = [d, (sum << rotation) | (sum >>> (32 - rotation)), b, c];
    });
  }
  state[0] = (state[0] + a) | 0;
  state[1] = (state[1] + b) | 0;
  state[2] = (state[2] + c) | 0;
  state[3] = (state[3] + d) | 0;
}
