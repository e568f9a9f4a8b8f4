import type { MetadataLevel } from "./metadata-level.ts";

export interface TableJsonOptions {
  readonly level: MetadataLevel;
  /** The URL of the account, with a trailing slash. */
  readonly endpoint: string;
  readonly account: string;
}

export function tableJson(name: string, options: TableJsonOptions): string {
  return JSON.stringify({ ...metadata(options, "/@Element"), ...members(name, options) });
}

export function tableListJson(names: readonly string[], options: TableJsonOptions): string {
  const value = names.map((name) => members(name, options));
  return JSON.stringify({ ...metadata(options, ""), value });
}

/** `Tables('name')` */
export function tablePath(name: string): string {
  return `Tables('${name}')`;
}

function metadata({ level, endpoint }: TableJsonOptions, suffix: string): object {
  return level === "none" ? {} : { "odata.metadata": `${endpoint}$metadata#Tables${suffix}` };
}

function members(name: string, { level, endpoint, account }: TableJsonOptions): object {
  if (level !== "full") return { TableName: name };
  const link = tablePath(name);
  return {
    "odata.type": `${account}.Tables`,
    "odata.id": endpoint + link,
    "odata.editLink": link,
    TableName: name,
  };
}
