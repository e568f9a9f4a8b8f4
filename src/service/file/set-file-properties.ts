import { FILE_ATTRIBUTES } from "../../rules/file-attributes.ts";
import { type FilePast, versionAsOf } from "../shared/past.ts";
import { admitFileUpdate } from "./admit.ts";
import type { FileAsked, FileContext } from "./context.ts";
import { changedSettings, type ItemSettings } from "./item-settings.ts";
import { ALL_BYTES, type Touched } from "./opens.ts";
import { growUsage } from "./share-usage.ts";
import { type File, type FileProperties, writeFile } from "./tree-records.ts";
import { nextFileVersion } from "./version.ts";

export interface SetFileProperties extends FileAsked {
  /** All properties: empty ones are cleared. Null to leave them unchanged. */
  readonly properties: FileProperties | null;
  /** Null to leave it unchanged. */
  readonly length: number | null;
  readonly settings: ItemSettings;
  /** What an import knows of it. */
  readonly past?: FilePast | null;
}

/** The bytes that a resize touches: those after the new end. */
function bytesFrom(length: number | null): Touched | null {
  return length === null ? null : { from: length, length: ALL_BYTES.length - length };
}

export async function setFileProperties(
  context: FileContext,
  asked: SetFileProperties,
): Promise<File> {
  const { contents, store } = context;
  const { attributes } = asked.settings;
  // A read-only file may be made writable, or it would stay read-only for ever.
  const makesWritable = attributes !== null && (attributes & FILE_ATTRIBUTES.ReadOnly) === 0;
  return store.transact((tx) => {
    const { share, tree, file } = admitFileUpdate(
      tx,
      asked,
      "setFileProperties",
      bytesFrom(asked.length),
      makesWritable,
    );
    const version = nextFileVersion(tx, tree, contents, file);
    const length = asked.length ?? file.content.length;
    growUsage(tx, share, file.id, length - file.content.length);
    const isResized = length !== file.content.length;
    const settings = isResized ? settingsOfResize(asked.settings) : asked.settings;
    const changed: File = {
      ...file,
      ...versionAsOf(tx, asked, version),
      ...changedSettings(tx, tree, file, settings, version),
      copy: asked.past?.copy ?? file.copy,
      properties: asked.properties ?? file.properties,
      content: isResized ? contents.maps.resize(tx, file.content, length) : file.content,
    };
    writeFile(tx, tree, changed);
    return changed;
  });
}

/** A resize writes to the file: its last write is now, unless the client names another time. */
function settingsOfResize(settings: ItemSettings): ItemSettings {
  return settings.written === null ? { ...settings, written: "now" } : settings;
}
