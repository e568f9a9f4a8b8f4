import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { type Browser, chromium, type Page } from "playwright-core";
import { skipWithoutDebianProgram } from "../programs/debian-program.ts";

/** Null if there is a browser, otherwise the reason to skip tests that need one. */
export function skipWithoutBrowser(): string | null {
  return skipWithoutDebianProgram("chromium", "chromium");
}

const FLAGS = [
  ...["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"],
  ...["--disable-background-networking", "--disable-component-update", "--disable-sync"],
];

const PAGE_MS_MAX = 300_000;

/** A page of the console in a real browser. Errors in the page fail the test. */
export interface ConsolePage {
  readonly page: Page;
  /** Messages of errors and of violations of the content security policy. */
  readonly errors: readonly string[];
  close(): Promise<void>;
}

/** One browser for a whole test file; each page has cookies of its own. */
export class Browsers {
  #browser: Promise<Browser> | null = null;

  async open(url: string, size = { width: 1280, height: 900 }): Promise<ConsolePage> {
    this.#browser ??= chromium.launch({ executablePath: "/usr/bin/chromium", args: FLAGS });
    const context = await (await this.#browser).newContext({
      viewport: size,
      // Tests over HTTPS use a certificate of their own.
      ignoreHTTPSErrors: true,
    });
    // Only what hangs takes so long, however busy the machine is.
    context.setDefaultTimeout(PAGE_MS_MAX);
    const page = await context.newPage();
    const errors: string[] = [];
    page.on("console", (message) => {
      if (message.type() === "error") errors.push(message.text());
    });
    page.on("pageerror", (error) => errors.push(String(error)));
    await page.goto(url);
    return { page, errors, close: () => context.close() };
  }

  /** Its temporary profile goes with it. */
  async close(): Promise<void> {
    await (await this.#browser)?.close();
  }
}

/** Far more than any page needs. */
const FRAMES_MAX = 20_000;

/**
 * Waits until an expression is true in the page. (`waitForFunction` looks again from inside of the
 * page, whose policy forbids that.)
 */
export async function waitUntil(page: Page, expression: string): Promise<void> {
  for (let frame = 0; frame < FRAMES_MAX; frame++) {
    if (await page.evaluate<boolean>(`Boolean(${expression})`)) return;
    await page.evaluate("new Promise((resolve) => requestAnimationFrame(resolve))");
  }
  assert.fail(`it never became true in the page: ${expression}`);
}

const axe = createRequire(import.meta.url).resolve("axe-core/axe.min.js");

interface Violation {
  readonly id: string;
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[];
}

/** Checks that a page is usable for everybody, as far as a program can tell. */
export async function assertAccessible(page: Page): Promise<void> {
  // The page's policy permits no script but its own; this one comes from the debugger.
  await page.evaluate(await readFile(axe, "utf8"));
  const violations = await page.evaluate<Violation[]>(
    "axe.run({ runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa'] }).then((r) => r.violations)",
  );
  const lines = violations.map(
    ({ id, nodes }) => `${id}: ${nodes[0]?.html} ${nodes[0]?.failureSummary}`,
  );
  assert.deepEqual(lines, []);
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
