// Runs on the page: replayed, compared, two threads side by side; and the meaning that answers use.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, choose, chooseMachine, ended, page, question, refusal, turn, visit } from "./browser.js";

test("a run is replayed, and a fork is compared with the thread that it came from", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  await question("How many orders are there?");
  await ask(page, "How many customers are there?");
  await ended(page, "answered", 2);
  const before = await page.evaluate(() => location.hash);
  await turn().getByLabel("Edit the question").click();
  await page.getByLabel("Your question, changed").fill("How many orders are there per status?");
  await page.getByLabel("Your question, changed").press("Enter");
  await page.waitForFunction((hash) => location.hash !== hash, before);
  await ended(page, "answered", 2);
  await page.getByRole("link", { name: "compare" }).click();
  await page.getByText(/They share \d+ events/).waitFor();
  const rows = page.getByRole("row");
  assert.match(await rows.nth(1).innerText(), /How many customers are there\?[\s\S]*How many orders are there per status\?/);
  assert.doesNotMatch(await page.locator("tbody").first().innerText(), /How many orders are there\?/, "what they share is not repeated");

  await rows.nth(1).getByRole("link", { name: "Run" }).first().click();
  await page.getByRole("heading", { name: "How many customers are there?" }).waitFor();
  await page.getByRole("button", { name: "Replay free" }).click();
  await page.getByText("Identical").waitFor();
  await page.getByText(/\d+ events came out as they were recorded/).waitFor();
});

test("the meaning of a dataset is written, refused with the line, saved and used", async () => {
  await visit("#/data/shop");
  const meaning = page.getByRole("region", { name: "Meaning" });
  const model = (expression) => `version: 0.2.0.dev0
semantic_model:
  - name: shop
    datasets:
      - name: orders
        source: orders
        primary_key: [id]
    metrics:
      - name: kept revenue
        description: What was paid and not returned
        expression: {dialects: [{dialect: ANSI_SQL, expression: ${expression}}]}
        ai_context: {synonyms: [takings]}
`;
  await meaning.getByLabel("meaning.yaml").fill(model("SUM(orders.nothing)"));
  await meaning.getByRole("button", { name: "Check and save" }).click();
  await meaning.getByRole("button", { name: /^Line \d+/ }).first().click();
  refusal(422);
  assert.equal(await meaning.locator("textarea").evaluate((f) => f === document.activeElement && f.selectionEnd > f.selectionStart), true, "the line is chosen");
  await meaning.getByLabel("meaning.yaml").fill(model("SUM(orders.amount) FILTER (WHERE orders.status <> 'returned')"));
  await meaning.getByRole("button", { name: "Check and save" }).click();
  await meaning.getByText("Saved; it holds from the next question on.").waitFor();
  assert.match(await meaning.getByRole("list", { name: "Metrics" }).innerText(), /kept revenue[\s\S]*takings/);
  await chooseMachine("analyst");
  await choose("shop");
  await question("What are the takings?");
  assert.match(await turn().innerText(), /130\.75/);
});
