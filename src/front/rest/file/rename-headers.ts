import type { Rename } from "../../../service/file/rename.ts";
import type { RequestHeaders } from "../http/exchange.ts";
import { flagOf, leaseIdOf, metadataOf } from "../request-headers.ts";
import { itemSettingsOf } from "./item-headers.ts";

/** Reads the settings of a rename, without source and target. */
export function renameTermsOf(headers: RequestHeaders): Omit<Rename, "at" | "access"> {
  const metadata = metadataOf(headers);
  return {
    replaces: flagOf(headers, "x-ms-file-rename-replace-if-exists"),
    ignoresReadOnly: flagOf(headers, "x-ms-file-rename-ignore-readonly"),
    leaseId: leaseIdOf(headers, "x-ms-destination-lease-id"),
    settings: itemSettingsOf(headers),
    metadata: metadata.length === 0 ? null : metadata,
  };
}
