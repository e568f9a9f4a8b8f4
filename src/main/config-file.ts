import { RETENTION_DAYS_MAX } from "../base/limits.ts";
import { type AccountSettings, accountsOf, InvalidAccount } from "../front/rest/auth/account.ts";
import { type IssuerSettings, issuerOf, type KeyPlace } from "../front/rest/auth/bearer.ts";
import type { AllowedSources } from "../front/rest/source/allowed-sources.ts";
import { ForeignSources } from "../front/rest/source/foreign-sources.ts";
import { type BlobSettings, DEFAULT_BLOB_SETTINGS } from "../service/blob/context.ts";
import { DEFAULT_FILE_SETTINGS, type FileSettings } from "../service/file/context.ts";
import type { S3Options } from "./bytes-options.ts";
import { ConfigText, type Fields } from "./config-fields.ts";
import { type DatabaseConfig, readDatabaseName, readDatabases } from "./configured-databases.ts";
import { ConfiguredRoles } from "./configured-roles.ts";
import { readS3Options } from "./configured-s3.ts";

/** The content of the `--config` file. */
export interface Config {
  readonly accounts?: readonly AccountConfig[];
  readonly oauth?: IssuerSettings;
  readonly roles?: ConfiguredRoles;
  readonly copySources?: AllowedSources;
  /** The most connections of one address to each service. */
  readonly maxConnectionsPerAddress?: number;
  /** The same as `--records` and `--bytes`. */
  readonly records?: string;
  readonly bytes?: string;
  /** How to reach the bucket, if bytes are in one. */
  readonly s3?: S3Options;
  /** Further records and bytes, for the accounts that name them. */
  readonly databases?: readonly DatabaseConfig[];
}

export interface AccountConfig extends AccountSettings {
  /** The name of its database; absent for that of `--records`. */
  readonly database?: string;
  readonly blob?: BlobSettings;
  readonly file?: FileSettings;
}

const PER_ADDRESS = "maxConnectionsPerAddress";
const HOST_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

/** Reads a configuration file. Throws a `UsageError` that names file, line and field. */
export function readConfig(file: string, text: string): Config {
  const top = new ConfigText(file, text).fields();
  const hasAccounts = top.mayHave("accounts");
  const databases = top.mayHave("databases") ? readDatabases(top) : [];
  const config = {
    ...(databases.length > 0 ? { databases } : {}),
    ...(hasAccounts ? { accounts: readAccounts(top, databases) } : {}),
    ...(top.mayHave("oauth") ? { oauth: readOauth(top) } : {}),
    ...(top.mayHave("roles") ? { roles: new ConfiguredRoles(top.objects("roles")) } : {}),
    ...(top.mayHave("copySources") ? { copySources: readSources(top) } : {}),
    ...(top.mayHave(PER_ADDRESS)
      ? { [PER_ADDRESS]: top.number(PER_ADDRESS, 1, Number.MAX_SAFE_INTEGER) }
      : {}),
    ...(top.mayHave("records") ? { records: top.text("records") } : {}),
    ...(top.mayHave("bytes") ? { bytes: top.text("bytes") } : {}),
    ...(top.mayHave("s3") ? { s3: readS3Options(top.object("s3")) } : {}),
  };
  top.requireNoOthers();
  return config;
}

function readAccounts(top: Fields, databases: readonly DatabaseConfig[]): AccountConfig[] {
  const accounts = top.objects("accounts").map((fields) => {
    const account = {
      name: fields.text("name"),
      keys: fields.texts("keys"),
      domains: fields.mayHave("domains") ? fields.texts("domains") : [],
      ...(fields.mayHave("database") ? { database: readDatabaseName(fields, databases) } : {}),
      ...(fields.mayHave("blob") ? { blob: readBlobSettings(fields.object("blob")) } : {}),
      ...(fields.mayHave("file") ? { file: readFileSettings(fields.object("file")) } : {}),
    };
    account.domains.forEach((domain, index) => {
      if (HOST_NAME.test(domain)) return;
      const what = `"${domain}" is not a host name. Leave out scheme and port.`;
      throw fields.problem(["domains", index], what);
    });
    fields.requireNoOthers();
    return account;
  });
  if (accounts.length === 0) {
    throw top.wrong(["accounts"], "names no account. Give at least one, or leave it out.");
  }
  try {
    accountsOf(accounts);
    return accounts;
  } catch (error) {
    if (!(error instanceof InvalidAccount)) throw error;
    throw top.problem(["accounts", error.index], error.message);
  }
}

function readBlobSettings(fields: Fields): BlobSettings {
  const { versioning, containerRetentionDays } = DEFAULT_BLOB_SETTINGS;
  const settings = {
    versioning: fields.mayHave("versioning") ? fields.flag("versioning") : versioning,
    containerRetentionDays: fields.mayHave("containerRetentionDays")
      ? fields.number("containerRetentionDays", 1, RETENTION_DAYS_MAX)
      : containerRetentionDays,
    ...(fields.mayHave("hierarchicalNamespace")
      ? { hierarchicalNamespace: fields.flag("hierarchicalNamespace") }
      : {}),
  };
  fields.requireNoOthers();
  return settings;
}

function readFileSettings(fields: Fields): FileSettings {
  const settings = {
    shareRetentionDays: fields.mayHave("shareRetentionDays")
      ? fields.number("shareRetentionDays", 1, RETENTION_DAYS_MAX)
      : DEFAULT_FILE_SETTINGS.shareRetentionDays,
  };
  fields.requireNoOthers();
  return settings;
}

function readOauth(top: Fields): IssuerSettings {
  const fields = top.object("oauth");
  const issuer = {
    issuer: fields.text("issuer"),
    ...(fields.mayHave("audience") ? { audience: fields.text("audience") } : {}),
    from: readKeyPlace(fields),
  };
  fields.requireNoOthers();
  top.require("oauth", () => issuerOf(issuer));
  return issuer;
}

const KEY_PLACES = ["keys", "keysFile", "keysUrl"] as const;

function readKeyPlace(fields: Fields): KeyPlace {
  const given = KEY_PLACES.filter((name) => fields.mayHave(name));
  if (given.length !== 1) {
    const places = KEY_PLACES.map((name) => `"${name}"`).join(", ");
    throw fields.wrong([], `needs the issuer's keys in one place of ${places}.`);
  }
  switch (given[0]) {
    case "keysUrl": {
      const networks = fields.mayHave("networks") ? fields.texts("networks") : [];
      return { url: fields.text("keysUrl"), networks };
    }
    case "keysFile":
      return { file: fields.text("keysFile") };
    default:
      return { keys: fields.objects("keys").map((key) => key.all()) };
  }
}

function readSources(top: Fields): AllowedSources {
  const fields = top.object("copySources");
  const sources = {
    origins: fields.texts("origins"),
    networks: fields.mayHave("networks") ? fields.texts("networks") : [],
  };
  fields.requireNoOthers();
  top.require("copySources", () => new ForeignSources(sources));
  return sources;
}
