import { KeyReader, SPACE } from "../../base/keys.ts";
import { isExpired } from "../../rules/visibility.ts";
import type { MeasuredRecords } from "../shared/measured-records.ts";
import { decodeMessage, queueOfEntry } from "./records.ts";

export const MEASURED_MESSAGES: readonly MeasuredRecords[] = [
  {
    space: SPACE.queue,
    measure(entry) {
      const account = new KeyReader(entry.key).text();
      const { name, queue } = queueOfEntry(entry);
      return { is: "place", service: "queue", account, name, id: queue.id, kind: "current" };
    },
  },
  {
    space: SPACE.message,
    measure({ key, value }, now) {
      const parent = new KeyReader(key).u64();
      const message = decodeMessage(value);
      const kind = isExpired(message, now) ? "garbage" : "current";
      return { is: "object", parent, name: null, kind, bytes: Buffer.byteLength(message.text) };
    },
  },
];
