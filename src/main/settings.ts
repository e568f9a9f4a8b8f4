import type { S3Place } from "../engine/s3/s3-place.ts";
import type { AccountSettings, Accounts } from "../front/rest/auth/account.ts";
import { issuerOf, type OAuth } from "../front/rest/auth/bearer.ts";
import { readKeySet } from "../front/rest/auth/signing-keys.ts";
import type { TlsOptions } from "../front/rest/http/tls-settings.ts";
import type { AllowedSources } from "../front/rest/source/allowed-sources.ts";
import { ForeignSources } from "../front/rest/source/foreign-sources.ts";
import type { BlobSettings } from "../service/blob/context.ts";
import type { FileSettings } from "../service/file/context.ts";
import { checkAccounts, DEVELOPMENT_ACCOUNT, splitAccountList, weakKeys } from "./accounts.ts";
import { loadCertificate } from "./certificate.ts";
import type { Options } from "./command-line.ts";
import { type AccountConfig, type Config, readConfig } from "./config-file.ts";
import { requireLabAtHome, requireNoExposure } from "./network-guard.ts";
import { choosePlaces, type NamedPlace, requirePlaces } from "./places.ts";
import { readFile } from "./read-file.ts";
import type { SeedSource } from "./seed/seed-document.ts";
import type { SharedPlace } from "./shared-place.ts";
import { type SmbSettings, smbSettings } from "./smb-settings.ts";
import { UsageError } from "./start-error.ts";

/** The options, together with the content of the files that they name. */
export interface Settings extends Options {
  /** What they were made from, for a reload. */
  readonly options: Options;
  /** The content of the configuration file. */
  readonly config: Config;
  /** What the data shall have at the start, if a program says it and not a file. */
  readonly seed?: SeedSource;
  readonly accounts: Accounts;
  /** The same accounts as they are configured, with the text of their keys. */
  readonly statedAccounts: readonly AccountSettings[];
  /** By account, for accounts with settings for blobs. */
  readonly blobSettings: ReadonlyMap<string, BlobSettings>;
  /** By account, for accounts with settings for shares. */
  readonly fileSettings: ReadonlyMap<string, FileSettings>;
  /** Null: bearer tokens are refused. */
  readonly oauth: OAuth | null;
  /** Null for plain HTTP. */
  readonly tls: TlsOptions | null;
  readonly smb: SmbSettings;
  /** Null for half of all connections. */
  readonly connectionsPerAddress: number | null;
  /** Records and bytes that several front ends share; null for a data folder, or memory. */
  readonly shared: SharedPlace | null;
  /** The bucket for large bodies; null if they are in a folder, or in memory. */
  readonly bucket: S3Place | null;
  /** The places of data, with at least one. */
  readonly places: readonly NamedPlace[];
  /** The name of each account's place; those without one are in the place without a name. */
  readonly placeOfAccount: ReadonlyMap<string, string>;
  /** Other servers that may be copied from. */
  readonly foreignSources: ForeignSources;
  /** Problems that do not prevent the start, one line each. */
  readonly warnings: readonly string[];
}

/**
 * Reads the files and checks that all settings fit together. Throws a `StartError`. `read` may
 * bring the text of a configuration that is not in a file.
 */
export function readSettings(options: Options, read = readFile): Settings {
  const { configFile, certificate } = options;
  const config =
    configFile === null ? {} : readConfig(configFile, read(configFile).toString("utf8"));
  const [source, configured] = chooseAccounts(options, config);
  const stated = config.roles?.of(configured) ?? configured;
  const accounts = checkAccounts(source, stated);
  const oauth = chooseOauth(options, config);
  const hosts = options.services.map((service) => options.listen[service].host);
  requireNoExposure({ ...options, hosts, accounts: stated });
  if (options.lab !== null) requireLabAtHome(hosts);
  const tls = certificate === null ? null : loadCertificate(certificate, readFile);
  const blobSettings = settingsBy(config, ({ blob }) => blob);
  const fileSettings = settingsBy(config, ({ file }) => file);
  const foreignSources = new ForeignSources(config.copySources ?? NO_SOURCES);
  const smb = smbSettings(options, stated);
  const connectionsPerAddress = chooseConnectionsPerAddress(options, config);
  const stored = choosePlaces(options, config);
  const { shared } = stored;
  const placeOfAccount = settingsBy(config, ({ database }) => database);
  requirePlaces(stated, stored.places, placeOfAccount, source);
  const warnings = [
    ...weakKeys(stated).map((weak) => `${weak}: for tests on this machine only`),
    ...roleWarnings(stated, oauth),
  ];
  const parts = { accounts, blobSettings, fileSettings, oauth, tls, smb, foreignSources, warnings };
  const location = shared === null && config.databases === undefined ? options.location : null;
  const places = { ...stored, location, placeOfAccount, connectionsPerAddress };
  return { ...options, options, ...parts, ...places, config, statedAccounts: stated };
}

/** Sentences about roles that do less than their author may think. */
function roleWarnings(accounts: readonly AccountSettings[], oauth: OAuth | null): string[] {
  const open = accounts.filter(({ roles = [] }) => roles.length === 0);
  if (open.length === accounts.length) return [];
  if (oauth === null) {
    return ["no bearer tokens are taken, so the roles permit nothing: give an issuer, or --oauth"];
  }
  return open.map(
    ({ name }) =>
      `the account "${name}" has no roles: every accepted token may do everything in it`,
  );
}

/** By the name of the account. */
function settingsBy<T>(
  { accounts = [] }: Config,
  part: (account: AccountConfig) => T | undefined,
): Map<string, T> {
  const all = new Map<string, T>();
  for (const account of accounts) {
    const settings = part(account);
    if (settings !== undefined) all.set(account.name, settings);
  }
  return all;
}

function chooseAccounts(
  { accountList, configFile }: Options,
  config: Config,
): [source: string, accounts: readonly AccountSettings[]] {
  if (config.accounts === undefined) {
    if (accountList === null) return ["The default account", [DEVELOPMENT_ACCOUNT]];
    return ["AZURITE_ACCOUNTS", splitAccountList(accountList)];
  }
  if (accountList !== null) {
    throw new UsageError(
      `Accounts are given twice, in AZURITE_ACCOUNTS and in ${configFile}: keep one of them.`,
    );
  }
  return [configFile ?? "", config.accounts];
}

function chooseOauth(
  { oauthBasic, certificate, configFile }: Options,
  config: Config,
): OAuth | null {
  if (config.oauth === undefined) return oauthBasic ? { mode: "basic" } : null;
  if (oauthBasic) {
    throw new UsageError(
      `--oauth basic contradicts the issuer in ${configFile}: keep one of them.`,
    );
  }
  if (certificate === null) {
    throw new UsageError(
      `The issuer in ${configFile} needs HTTPS: give a certificate with --cert and --key.`,
    );
  }
  const { from } = config.oauth;
  if ("file" in from) requireKeysIn(from.file);
  return issuerOf(config.oauth);
}

/** Reads the file now only to report errors in it; the key set reads it again later. */
function requireKeysIn(file: string): void {
  const text = readFile(file).toString("utf8");
  try {
    readKeySet(text);
  } catch (error) {
    throw new UsageError(`${file}: ${(error as Error).message}`);
  }
}

function chooseConnectionsPerAddress(
  { maxConnectionsPerAddress: flag, configFile }: Options,
  { maxConnectionsPerAddress: field }: Config,
): number | null {
  if (flag !== null && field !== undefined) {
    throw new UsageError(
      `--maxConnectionsPerAddress is given twice, also in ${configFile}: keep one of them.`,
    );
  }
  return flag ?? field ?? null;
}

const NO_SOURCES: AllowedSources = { origins: [], networks: [] };
