// A lost answer after the commit is tried again, and done once: a payment that was stored must not
// be stored a second time because its answer got lost.
import { TableClient } from "@azure/data-tables";
import { start } from "lazuli";
import { Lab } from "lazuli/lab";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";

let lazuli;
let lab;
let payments;

beforeAll(async () => {
  lazuli = await start({ services: ["table"], lab: true });
  lab = new Lab(lazuli);
  payments = TableClient.fromConnectionString(lazuli.connectionString, "payments", {
    allowInsecureConnection: true,
    retryOptions: { maxRetries: 0 },
  });
  await payments.createTable();
  await lab.save("empty");
});

beforeEach(() => lab.restore("empty"));

afterAll(() => lazuli.stop());

/** The code under test: the id of the payment is its key, so that a second insert is noticed. */
async function pay(id, amount) {
  for (let attempt = 1; ; attempt++) {
    try {
      await payments.createEntity({ partitionKey: "2026", rowKey: id, amount });
      return attempt;
    } catch (error) {
      if (error.statusCode === 409 && attempt > 1) return attempt;
      if (error.statusCode !== undefined || attempt === 3) throw error;
    }
  }
}

async function total() {
  let sum = 0;
  for await (const { amount } of payments.listEntities()) sum += amount;
  return sum;
}

test("the answer is lost after the payment is stored", async () => {
  await lab.rule({ operation: "InsertEntity", drop: true, at: "answer" });
  expect(await pay("p-1", 100)).toBe(2);
  expect(await total()).toBe(100);
});

test("the request is lost before the payment is stored", async () => {
  await lab.rule({ operation: "InsertEntity", drop: true });
  expect(await pay("p-1", 100)).toBe(2);
  expect(await total()).toBe(100);
});
