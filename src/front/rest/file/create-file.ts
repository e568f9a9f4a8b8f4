import type { Body } from "../../../base/bytes.ts";
import { FILE_BYTES_MAX, PUT_RANGE_BYTES_MAX } from "../../../base/limits.ts";
import { FILE_ATTRIBUTES } from "../../../rules/file-attributes.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { createFile } from "../../../service/file/create-file.ts";
import type { ItemSettings } from "../../../service/file/item-settings.ts";
import type { RequestHeaders, RestRequest, RestResponse } from "../http/exchange.ts";
import { pastOf } from "../past.ts";
import {
  digestsOf,
  invalidHeader,
  metadataOf,
  numberOf,
  requireHeader,
} from "../request-headers.ts";
import { digestHeaders } from "../response-headers.ts";
import { type IncomingBody, incomingBody, requireNoBody } from "../stored-body.ts";
import { type FileCall, fileAskedOf, requireNoSnapshot } from "./call.ts";
import { filePropertiesOf } from "./file-headers.ts";
import {
  changedItemHeaders,
  isRestored,
  itemSettingsOf,
  requireSupportedOnItem,
} from "./item-headers.ts";

const LENGTH = "x-ms-content-length";

export async function handleCreateFile(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  const { headers } = call.request;
  requireNoSnapshot(call);
  requireSupportedOnItem(headers);
  requireType(headers);
  requireHeader(headers, LENGTH);
  const length = numberOf(headers, LENGTH, 0, FILE_BYTES_MAX) ?? 0;
  const { body, echo } = bodyWithin(call.request, length);
  const { at, access, leaseId } = fileAskedOf(call);
  const { file, md5 } = await createFile(context, {
    at,
    access,
    leaseId,
    length,
    settings: settingsOfNew(headers),
    properties: filePropertiesOf(headers),
    metadata: metadataOf(headers),
    past: pastOf(headers),
    body,
    digests: digestsOf(headers),
  });
  return {
    status: 201,
    headers: [...changedItemHeaders(file), ...digestHeaders({ md5, crc64: null }), ...echo],
    body: null,
  };
}

/**
 * Reads the settings of a new file. It gets the Archive attribute, unless it is restored with its
 * permission.
 */
function settingsOfNew(headers: RequestHeaders): ItemSettings {
  const { attributes, created, written, changed, permission } = itemSettingsOf(headers);
  const added = isRestored(headers) && permission !== null ? 0 : FILE_ATTRIBUTES.Archive;
  return { attributes: (attributes ?? 0) | added, created, written, changed, permission };
}

function requireType(headers: RequestHeaders): void {
  const name = "x-ms-type";
  const type = requireHeader(headers, name);
  if (type.toLowerCase() !== "file") throw invalidHeader(name, type, "It must be file.");
}

/** Reads the initial content, which may come with the creation. */
function bodyWithin(request: RestRequest, length: number): FirstBytes {
  if (request.body.length === 0) {
    requireNoBody(request);
    return { body: null, echo: [] };
  }
  const incoming = incomingBody(request, PUT_RANGE_BYTES_MAX);
  const bytes = incoming.body.length;
  if (bytes > length) {
    throw invalidHeader(LENGTH, String(length), `The body alone has ${bytes} bytes.`);
  }
  return incoming;
}

interface FirstBytes extends Pick<IncomingBody, "echo"> {
  readonly body: Body | null;
}
