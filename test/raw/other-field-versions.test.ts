import { test } from "node:test";
import { QUEUE_FIELDS } from "../../src/front/rest/queue/field-versions.ts";
import { TABLE_FIELDS } from "../../src/front/rest/table/field-versions.ts";
import { startQueueServer } from "../sdk/queue-server.ts";
import { rawRequest } from "../sdk/raw-request.ts";
import { forThisFile } from "../sdk/server.ts";
import { startTableServer, tableRequest } from "../sdk/table-server.ts";
import { checkFields } from "./field-presence.ts";

const SAMPLES = { getServiceProperties: [{ path: "/?restype=service&comp=properties" }] };

test("Queue: every field is sent from its version on, and not before", async () => {
  const server = await forThisFile(startQueueServer());
  await checkFields(QUEUE_FIELDS, SAMPLES, (asked) => rawRequest(server, asked));
});

test("Table: every field is sent from its version on, and not before", async () => {
  const server = await forThisFile(startTableServer());
  await checkFields(TABLE_FIELDS, SAMPLES, (asked) => tableRequest(server, asked));
});
