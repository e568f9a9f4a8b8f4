import type { AccountSettings } from "../front/rest/auth/account.ts";
import type { SmbAccounts } from "../front/smb/auth/authentication.ts";
import { passwordHash } from "../front/smb/auth/ntlm-keys.ts";
import { DIALECT_NAMES, type Dialect } from "../front/smb/codec/negotiate.ts";
import type { SmbEncryption } from "../front/smb/smb-server.ts";
import type { Options } from "./command-line.ts";
import { isLoopback } from "./network-guard.ts";

export interface SmbSettings {
  readonly accounts: SmbAccounts;
  readonly encryption: SmbEncryption;
  readonly signingRequired: boolean;
  readonly dialectMin: Dialect;
}

/** The settings of SMB. On loopback the defaults are weaker: no other machine can listen. */
export function smbSettings(
  { listen, smbEncryption, smbMinDialect }: Options,
  accounts: readonly AccountSettings[],
): SmbSettings {
  const isLocal = isLoopback(listen.smb.host);
  return {
    accounts: new Map(
      accounts.map(({ name, keys }) => [name, { name, passwordHashes: keys.map(passwordHash) }]),
    ),
    encryption: smbEncryption ?? (isLocal ? "preferred" : "required"),
    signingRequired: !isLocal,
    dialectMin: DIALECT_NAMES[smbMinDialect ?? (isLocal ? "2.0.2" : "3.0")],
  };
}
