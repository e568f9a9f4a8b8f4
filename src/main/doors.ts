import type { AdminDoor } from "../front/rest/http/admin.ts";
import type { UsagePath } from "../service/shared/usage-scan.ts";
import { backupTask } from "./backup/copied-state.ts";
import { LocalTasks, progressTask } from "./local-tasks.ts";
import type { Data } from "./open-data.ts";
import type { ReloadDone } from "./reload.ts";
import { REFUSED, RELOADED } from "./reload-command.ts";
import { applySeed, type SeedSettings } from "./seed/apply-seed.ts";
import type { SeedSource } from "./seed/seed-document.ts";
import type { Surroundings } from "./surroundings.ts";
import type { Undo } from "./undo.ts";
import { measureUsage } from "./usage.ts";

/** What commands of the same user can ask a running server for, by the name of the door. */
export function doorsOf(
  data: Data,
  { clock, schedule }: Pick<Surroundings, "clock" | "schedule">,
  settings: () => SeedSettings,
  reload: () => Promise<ReloadDone>,
  undo: Undo,
): Readonly<Record<string, AdminDoor>> {
  const tasks = new LocalTasks(schedule);
  undo.add(() => tasks.stop());
  return {
    reload: async () => {
      const { isReloaded, line } = await reload();
      return { status: isReloaded ? RELOADED : REFUSED, body: line };
    },
    backup: tasks.door(async () => backupTask(data)),
    seed: tasks.door(async (source) => {
      const work = applySeed(source as SeedSource, () => data, settings());
      return progressTask(work, () => clock.elapsedMs());
    }),
    usage: tasks.door(async (path) => {
      const work = measureUsage(data, path as UsagePath | null);
      return progressTask(work, () => clock.elapsedMs());
    }),
  };
}
