import { Fault } from "../../base/fault.ts";
import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import type { SourceObject, SourceSettings } from "../shared/source.ts";
import type { ItemSettings } from "./item-settings.ts";

/** The SMB properties of a copy; "source" takes the source's. */
export type CopySettings = {
  readonly [K in keyof ItemSettings]: ItemSettings[K] | "source";
} & {
  /** Whether to set the attribute Archive in any case. */
  readonly setsArchive: boolean;
};

export function settingsOfCopy(asked: CopySettings, { settings }: SourceObject): ItemSettings {
  const attributes = taken(asked.attributes, () => known(settings).attributes);
  const archive = asked.setsArchive ? FILE_ATTRIBUTES.Archive : 0;
  return {
    attributes: archive === 0 ? attributes : (attributes ?? 0) | archive,
    created: taken(asked.created, () => known(settings).created),
    written: taken(asked.written, () => known(settings).written),
    changed: taken(asked.changed, () => known(settings).changed),
    permission: taken(asked.permission, () => ({ kind: "sddl", sddl: known(settings).sddl })),
  };
}

function taken<T>(asked: T | "source", ofSource: () => T): T {
  return asked === "source" ? ofSource() : asked;
}

function known(settings: SourceSettings | undefined): SourceSettings {
  if (settings !== undefined) return settings;
  throw new Fault("InvalidHeaderValue", {
    Reason: "Only files of this server have what is to be taken from the source: say it instead.",
  });
}
