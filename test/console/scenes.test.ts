import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { after, type TestContext, test } from "node:test";
import { ACCOUNT, KEY } from "../sdk/server.ts";
import {
  assertFitsAll,
  Browsers,
  type ConsolePage,
  skipWithoutBrowser,
  waitUntil,
} from "./browser.ts";
import { ConsoleClient } from "./console-client.ts";
import { type ConsoleServer, startedConsole } from "./opened-console.ts";

const skip = skipWithoutBrowser() ?? false;
const browsers = new Browsers();
after(() => browsers.close());

const OTHER = "otheraccount";

async function openScenes(t: TestContext, server: ConsoleServer): Promise<ConsolePage> {
  const opened = await browsers.open(server.consoleUrl);
  t.after(() => opened.close());
  await opened.page.getByRole("link", { name: "Scenes" }).click();
  return opened;
}

test("without a lab, the page of scenes says how to start with one", { skip }, async (t) => {
  const server = await startedConsole(t);
  const { page, errors } = await openScenes(t, server);
  await page.getByText("Start it with --lab").waitFor();
  await assertFitsAll(page);
  assert.deepEqual(errors, []);
});

test("a scene is played with n clients, drawn, and told with winner and losers", {
  skip,
}, async (t) => {
  const server = await startedConsole(t, { lab: true });
  const { page, errors } = await openScenes(t, server);
  await page.getByText("Choose a scene and play it").waitFor();
  await page.getByLabel("Scene", { exact: true }).selectOption("lost-update");
  await page.getByLabel("Clients").fill("4");
  await page.getByRole("button", { name: "Play" }).press("Enter");
  const happened = page.getByRole("region", { name: "What happened" });
  await happened.getByText("The checker found an order").waitFor();
  // One of four wins with the first ETag, and the other three lose.
  assert.equal(await happened.getByText("lost: 412 ConditionNotMet").count(), 3);
  const order = await happened.getByRole("rowheader").allTextContents();
  assert.deepEqual(
    order.map(Number),
    order.map((_, at) => at + 1),
  );
  const width = "document.querySelector('.lanes img').naturalWidth";
  await waitUntil(page, `${width} > 600`);
  const saving = page.waitForEvent("download");
  await happened.getByRole("link", { name: "Save as SVG" }).click();
  const saved = await saving;
  assert.equal(saved.suggestedFilename(), "lost-update.svg");
  assert.match(await readFile(await saved.path(), "utf8"), /^<svg xmlns=.*client 4/s);
  await assertFitsAll(page);
  assert.deepEqual(errors, []);
});

interface Played {
  readonly svg: string;
  readonly objects: readonly { readonly verdict: string; readonly operations: readonly object[] }[];
}

test("every scene of the lab can be played by the API, within the account of the session", async (t) => {
  const server = await startedConsole(t, {
    lab: true,
    accounts: [
      { name: ACCOUNT, keys: [KEY] },
      { name: OTHER, keys: [Buffer.alloc(64, "other").toString("base64")] },
    ],
  });
  const api = await ConsoleClient.signIn(server.consoleUrl);
  const { scenes } = await api.get<{ scenes: { name: string }[] }>("/api/scenes");
  assert.ok(scenes.length >= 4);
  for (const { name } of scenes) {
    const { svg, objects } = await api.post<Played>("/api/scenes", { name, clients: 3 });
    assert.match(svg, /^<svg/);
    assert.ok(objects.length > 0, name);
    for (const { verdict, operations } of objects) {
      assert.equal(verdict, "explained", name);
      assert.ok(operations.length > 0);
    }
  }
  const refusals: [object, [number, string]][] = [
    [{ name: "no-such" }, [404, "LabRefused"]],
    [{ name: "lost-update", clients: 99 }, [400, "LabRefused"]],
    [{ name: "lost-update", account: 7 }, [400, "InvalidScene"]],
    [{ clients: 3 }, [400, "InvalidScene"]],
  ];
  for (const [asked, refusal] of refusals) {
    assert.deepEqual(await api.fails("/api/scenes", asked), refusal);
  }
  const own = await ConsoleClient.signInByKey(server.consoleUrl, ACCOUNT, KEY);
  const foreign = { name: "lost-update", account: OTHER };
  assert.deepEqual(await own.fails("/api/scenes", foreign), [403, "OtherAccount"]);
  await own.post<Played>("/api/scenes", { name: "lost-update", clients: 2 });
});

test("a server without a lab plays nothing", async (t) => {
  const server = await startedConsole(t);
  const api = await ConsoleClient.signIn(server.consoleUrl);
  assert.deepEqual(await api.get("/api/scenes"), { scenes: null });
  const asked = { name: "lost-update", clients: 2 };
  assert.deepEqual(await api.fails("/api/scenes", asked), [404, "NoLab"]);
});
