import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import { type RunningServer, type StartOptions, start } from "lazuli";
import type { Page } from "playwright-core";
import { assertAccessible } from "./browser.ts";

export type ServerWithConsole = RunningServer & { readonly consoleUrl: string };

export async function startedWithConsole(
  t: TestContext,
  options: StartOptions = {},
): Promise<ServerWithConsole> {
  const server = await start({ consolePort: 0, ...options });
  t.after(() => server.stop());
  assert.ok(server.consoleUrl !== null);
  return { ...server, consoleUrl: server.consoleUrl };
}

/** Checks a page in light and dark, and that it fits a phone. */
export async function assertFitsAll(page: Page): Promise<void> {
  for (const colorScheme of ["light", "dark"] as const) {
    await page.emulateMedia({ colorScheme });
    await assertAccessible(page);
    await page.setViewportSize({ width: 400, height: 800 });
    const wide = await page.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(wide <= 400, `${page.url()} is ${wide} pixels wide`);
    await page.setViewportSize({ width: 1280, height: 900 });
  }
}
