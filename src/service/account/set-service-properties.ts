import { refuse } from "../../base/fault.ts";
import { judgeByAccess } from "../../rules/access.ts";
import { judgeCorsRules } from "../../rules/cors-rules.ts";
import { SERVICE_NEEDS } from "../../rules/service-needs.ts";
import type { Transaction } from "../../store/store.ts";
import { type DeleteRetention, writeDeleteRetention } from "../shared/delete-retention.ts";
import type { AccountContext, ServiceAsked } from "./context.ts";
import { readProperties, type ServiceProperties, writeProperties } from "./records.ts";

export interface SetServiceProperties extends ServiceAsked {
  /** Omitted properties stay unchanged. */
  readonly changes: Partial<ServiceProperties>;
  /** Null turns soft delete off. Objects already deleted are retained as long as promised then. */
  readonly deleteRetention?: DeleteRetention | null;
  /** Called in the same transaction if logging is turned on. */
  readonly onLogging?: (tx: Transaction) => void;
}

export async function setServiceProperties(
  context: AccountContext,
  asked: SetServiceProperties,
): Promise<void> {
  await context.store.transact((tx) => {
    refuse(judgeByAccess(asked.access, SERVICE_NEEDS.setServiceProperties, null, tx.now()));
    refuse(judgeCorsRules(asked.changes.cors ?? []));
    const properties = { ...readProperties(tx, asked.at), ...asked.changes };
    writeProperties(tx, asked.at, properties);
    const { read, write, delete: deletes } = properties.logging;
    if (read || write || deletes) asked.onLogging?.(tx);
    if (asked.deleteRetention !== undefined) {
      writeDeleteRetention(tx, asked.at.account, asked.at.service, asked.deleteRetention);
    }
  });
}
