import { Fault } from "../../../base/fault.ts";
import { MIB } from "../../../base/limits.ts";
import type { QueueContext } from "../../../service/queue/context.ts";
import type { PlacedMessage } from "../../../service/queue/records.ts";
import { restoreMessages } from "../../../service/queue/restore-messages.ts";
import type { RestRequest, RestResponse } from "../http/exchange.ts";
import { readWholeBody } from "../http/whole-body.ts";
import { addressOf, type QueueCall } from "./call.ts";

/** The texts of a page, with room for escapes. */
const BODY_BYTES_MAX = 32 * MIB;
const MESSAGES_MAX = 64;
const GUID = /^[\da-f]{8}-(?:[\da-f]{4}-){3}[\da-f]{12}$/;

export async function handleRestoreMessages(
  context: QueueContext,
  call: QueueCall,
): Promise<RestResponse> {
  const messages = await readMessages(call.request);
  await restoreMessages(context, { at: addressOf(call), access: call.access, messages });
  return { status: 201, headers: [], body: null };
}

async function readMessages(request: RestRequest): Promise<PlacedMessage[]> {
  const bytes = await readWholeBody(request, BODY_BYTES_MAX);
  const { messages } = parsed(bytes.toString("utf8"));
  const found = Array.isArray(messages) ? messages.map(messageOf) : [];
  if (found.length > 0 && found.length <= MESSAGES_MAX) {
    if (found.every((message) => message !== null)) return found;
  }
  throw new Fault("InvalidInput", {
    Reason:
      `The body is JSON with up to ${MESSAGES_MAX} messages, as the list of them has them: ` +
      '{"messages": [{"id", "text", "inserted", "expires", "visible", "dequeued"}]}.',
  });
}

function parsed(text: string): { readonly messages?: unknown } {
  try {
    return Object(JSON.parse(text));
  } catch {
    return {};
  }
}

function messageOf(given: unknown): PlacedMessage | null {
  const { id, text, inserted, expires, visible, dequeued } = Object(given);
  if (typeof id !== "string" || typeof text !== "string" || !GUID.test(id)) return null;
  const expiresMs = expires === undefined ? null : timeOf(expires);
  const [insertedMs, visibleAtMs] = [timeOf(inserted), timeOf(visible)];
  if (expiresMs === undefined || insertedMs === undefined || visibleAtMs === undefined) return null;
  if (!Number.isInteger(dequeued) || dequeued < 0) return null;
  return { messageId: id, text, insertedMs, expiresMs, visibleAtMs, dequeueCount: dequeued };
}

function timeOf(given: unknown): number | undefined {
  const ms = typeof given === "string" ? Date.parse(given) : Number.NaN;
  return ms >= 0 ? ms : undefined;
}
