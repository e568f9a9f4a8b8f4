import { OWNER } from "../../rules/access.ts";
import type { AccountContext } from "../../service/account/context.ts";
import { readProperties } from "../../service/account/records.ts";
import { setServiceProperties } from "../../service/account/set-service-properties.ts";
import { readDeleteRetention } from "../../service/shared/delete-retention.ts";
import { isWanted } from "./same.ts";
import type { ServiceSeed } from "./seed-document.ts";

/** Sets the properties of a service that differ. */
export async function* seedService(
  context: AccountContext,
  account: string,
  { service, changes, deleteRetentionDays: days }: ServiceSeed,
): AsyncGenerator<boolean> {
  const at = { account, service };
  const deleteRetention = days === null ? null : { days, allowsPermanentDelete: false };
  const isOther = await context.store.read(
    (view) =>
      isWanted({ ...readProperties(view, at), ...changes }, readProperties(view, at)) ||
      isWanted(deleteRetention?.days ?? null, readDeleteRetention(view, account, service)?.days),
  );
  if (isOther) {
    const retention = deleteRetention === null ? {} : { deleteRetention };
    await setServiceProperties(context, { at, access: OWNER, changes, ...retention });
  }
  yield isOther;
}
