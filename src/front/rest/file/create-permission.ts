import { Fault } from "../../../base/fault.ts";
import { SECURITY_DESCRIPTOR_BYTES_MAX } from "../../../base/security-descriptor.ts";
import type { FileContext } from "../../../service/file/context.ts";
import { createPermission } from "../../../service/file/create-permission.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { type FileCall, requireNoSnapshot, shareAskedOf } from "./call.ts";
import { formatOf, sddlOf } from "./permission-format.ts";

/** Text may be longer than bytes. */
const BODY_BYTES_MAX = 4 * SECURITY_DESCRIPTOR_BYTES_MAX;

export async function handleCreatePermission(
  context: FileContext,
  call: FileCall,
): Promise<RestResponse> {
  requireNoSnapshot(call);
  const sddl = await readPermission(call.request);
  const key = await createPermission(context, { ...shareAskedOf(call), sddl });
  return { status: 201, headers: ["x-ms-file-permission-key", key], body: null };
}

/** Reads `{ "permission": "O:SYG:SYD:…", "format": "sddl" }`. */
async function readPermission(request: RestRequest): Promise<string> {
  const bytes = await readWholeBody(request, BODY_BYTES_MAX);
  const body = parsed(bytes.toString("utf8"));
  const { permission, format = "" } = body;
  const known = typeof format === "string" ? formatOf(format) : null;
  if (typeof permission !== "string" || known === null) {
    throw new Fault("InvalidInput", {
      Reason: 'The body is JSON like {"permission": "O:SYG:SYD:(A;;FA;;;SY)", "format": "Sddl"}.',
    });
  }
  return sddlOf(permission, known);
}

function parsed(text: string): { readonly permission?: unknown; readonly format?: unknown } {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null ? value : {};
  } catch {
    return {};
  }
}
