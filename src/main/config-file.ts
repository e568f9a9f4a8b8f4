import { RETENTION_DAYS_MAX } from "../base/limits.ts";
import type { AccountSettings } from "../front/rest/auth/account.ts";
import type { IssuerSettings, KeyPlace } from "../front/rest/auth/bearer.ts";
import type { AllowedSources } from "../front/rest/source/allowed-sources.ts";
import { type BlobSettings, DEFAULT_BLOB_SETTINGS } from "../service/blob/context.ts";
import { DEFAULT_FILE_SETTINGS, type FileSettings } from "../service/file/context.ts";
import { UsageError } from "./start-error.ts";

/** The content of the `--config` file. */
export interface Config {
  readonly accounts?: readonly AccountConfig[];
  readonly oauth?: IssuerSettings;
  readonly copySources?: AllowedSources;
  /** The most connections of one address to each service. */
  readonly maxConnectionsPerAddress?: number;
}

export interface AccountConfig extends AccountSettings {
  readonly blob?: BlobSettings;
  readonly file?: FileSettings;
}

const PER_ADDRESS = "maxConnectionsPerAddress";
const HOST_NAME = /^[a-z0-9-]+(?:\.[a-z0-9-]+)*$/i;

/** Reads the text of a configuration file. Throws a `UsageError` that names file and field. */
export function readConfig(file: string, text: string): Config {
  const top = new Fields(file, "", parse(file, text));
  const config = {
    ...(top.mayHave("accounts") ? { accounts: readAccounts(file, top) } : {}),
    ...(top.mayHave("oauth") ? { oauth: readOauth(file, top.object("oauth")) } : {}),
    ...(top.mayHave("copySources") ? { copySources: readSources(top.object("copySources")) } : {}),
    ...(top.mayHave(PER_ADDRESS)
      ? { [PER_ADDRESS]: top.number(PER_ADDRESS, 1, Number.MAX_SAFE_INTEGER) }
      : {}),
  };
  top.requireNoOthers();
  return config;
}

function parse(file: string, text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    // The parser's own message would show a part of the file, which may be a key.
    throw new UsageError(`${file} is not valid JSON. Check its commas, quotes and brackets.`);
  }
}

function readAccounts(file: string, top: Fields): AccountConfig[] {
  return top.objects("accounts").map((fields) => {
    const account = {
      name: fields.text("name"),
      keys: fields.texts("keys"),
      domains: fields.mayHave("domains") ? fields.texts("domains") : [],
      ...(fields.mayHave("blob") ? { blob: readBlobSettings(fields.object("blob")) } : {}),
      ...(fields.mayHave("file") ? { file: readFileSettings(fields.object("file")) } : {}),
    };
    account.domains.forEach((domain) => {
      if (!HOST_NAME.test(domain)) {
        throw new UsageError(`${file}: "${domain}" is not a host name. Leave out scheme and port.`);
      }
    });
    fields.requireNoOthers();
    return account;
  });
}

function readBlobSettings(fields: Fields): BlobSettings {
  const { versioning, containerRetentionDays } = DEFAULT_BLOB_SETTINGS;
  const settings = {
    versioning: fields.mayHave("versioning") ? fields.flag("versioning") : versioning,
    containerRetentionDays: fields.mayHave("containerRetentionDays")
      ? fields.number("containerRetentionDays", 1, RETENTION_DAYS_MAX)
      : containerRetentionDays,
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

function readOauth(file: string, fields: Fields): IssuerSettings {
  const issuer = {
    issuer: fields.text("issuer"),
    ...(fields.mayHave("audience") ? { audience: fields.text("audience") } : {}),
    from: readKeyPlace(file, fields),
  };
  fields.requireNoOthers();
  return issuer;
}

const KEY_PLACES = ["keys", "keysFile", "keysUrl"] as const;

function readKeyPlace(file: string, fields: Fields): KeyPlace {
  const given = KEY_PLACES.filter((name) => fields.mayHave(name));
  if (given.length !== 1) {
    throw new UsageError(
      `${file}: "oauth" needs the issuer's keys in one place: "keys", "keysFile" or "keysUrl".`,
    );
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

function readSources(fields: Fields): AllowedSources {
  const sources = {
    origins: fields.texts("origins"),
    networks: fields.mayHave("networks") ? fields.texts("networks") : [],
  };
  fields.requireNoOthers();
  return sources;
}

type Values = Readonly<Record<string, unknown>>;

/** The fields of one object in the file. Fields that are never read are refused as unknown. */
class Fields {
  readonly #file: string;
  readonly #path: string;
  readonly #values: Values;
  readonly #known = new Set<string>();

  constructor(file: string, path: string, value: unknown) {
    this.#file = file;
    this.#path = path;
    if (typeof value !== "object" || value === null || Array.isArray(value)) {
      throw new UsageError(`${file}: ${path === "" ? "the file" : `"${path}"`} must be an object.`);
    }
    this.#values = value as Values;
  }

  mayHave(name: string): boolean {
    this.#known.add(name);
    return Object.hasOwn(this.#values, name);
  }

  text(name: string): string {
    const value = this.#take(name);
    if (typeof value === "string" && value !== "") return value;
    throw this.#wrong(name, "must be a text");
  }

  texts(name: string): string[] {
    const values = this.#list(name);
    if (values.every((value) => typeof value === "string")) return values as string[];
    throw this.#wrong(name, "must be a list of texts");
  }

  flag(name: string): boolean {
    const value = this.#take(name);
    if (typeof value === "boolean") return value;
    throw this.#wrong(name, "must be true or false");
  }

  number(name: string, min: number, max: number): number {
    const value = this.#take(name);
    if (Number.isInteger(value) && Number(value) >= min && Number(value) <= max) {
      return Number(value);
    }
    throw this.#wrong(name, `must be a whole number from ${min} to ${max}`);
  }

  object(name: string): Fields {
    return new Fields(this.#file, this.#at(name), this.#take(name));
  }

  objects(name: string): Fields[] {
    return this.#list(name).map(
      (value, index) => new Fields(this.#file, `${this.#at(name)}[${index}]`, value),
    );
  }

  all(): Values {
    return this.#values;
  }

  requireNoOthers(): void {
    const other = Object.keys(this.#values).find((name) => !this.#known.has(name));
    if (other === undefined) return;
    const known = [...this.#known].join(", ");
    throw this.#wrong(other, `is not known here. There is: ${known}`);
  }

  #take(name: string): unknown {
    if (!this.mayHave(name)) throw this.#wrong(name, "is missing");
    return this.#values[name];
  }

  #list(name: string): unknown[] {
    const value = this.#take(name);
    if (Array.isArray(value)) return value;
    throw this.#wrong(name, "must be a list");
  }

  #at(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`;
  }

  #wrong(name: string, what: string): UsageError {
    return new UsageError(`${this.#file}: "${this.#at(name)}" ${what}.`);
  }
}
