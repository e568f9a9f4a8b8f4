/** Access rights of an open, as bits. */
export const ACCESS = {
  readData: 0x00000001,
  writeData: 0x00000002,
  appendData: 0x00000004,
  execute: 0x00000020,
  readAttributes: 0x00000080,
  writeAttributes: 0x00000100,
  delete: 0x00010000,
  readControl: 0x00020000,
  writeDac: 0x00040000,
  writeOwner: 0x00080000,
  synchronize: 0x00100000,
  systemSecurity: 0x01000000,
  maximumAllowed: 0x02000000,
} as const;

/** All rights to a file. */
export const ALL_ACCESS = 0x001f01ff;

/** All rights to something read-only. */
export const READ_ACCESS = 0x001200a9;

/** The four generic bits, each of which stands for several others. */
const GENERIC: readonly (readonly [bit: number, means: number])[] = [
  [0x80000000, 0x00120089],
  [0x40000000, 0x00120116],
  [0x20000000, 0x001200a0],
  [0x10000000, ALL_ACCESS],
];

/** The rights to grant; `most` if the maximum is asked for, zero if nothing known. */
export function grantedAccess(asked: number, most: number): number {
  let granted = asked & ALL_ACCESS;
  for (const [bit, means] of GENERIC) if ((asked & bit) !== 0) granted |= means;
  if ((asked & ACCESS.maximumAllowed) !== 0) granted |= most;
  return granted;
}
