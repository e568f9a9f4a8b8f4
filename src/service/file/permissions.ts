import { createHash } from "node:crypto";

/** Who may do what, as a share's root has it until somebody says otherwise. */
const ROOT_PERMISSION =
  "O:SYG:SYD:(A;OICI;FA;;;SY)(A;OICI;FA;;;BA)(A;OICI;0x1301bf;;;AU)(A;OICI;FA;;;CO)";

/** The key of a permission: the same text has the same key, everywhere and at all times. */
function permissionKeyOf(sddl: string): string {
  const digest = createHash("sha256").update(sddl).digest();
  return `${digest.readBigUInt64BE(0)}*${digest.readBigUInt64BE(8)}`;
}

export const ROOT_PERMISSION_KEY = permissionKeyOf(ROOT_PERMISSION);
