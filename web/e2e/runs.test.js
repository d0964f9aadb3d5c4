// Runs on the page: replayed, compared, two threads side by side; and the meaning that answers use.

import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { nothingRan, tricks } from "./corpus.js";
import { ask, choose, chooseMachine, ended, page, question, refusal, turn, unfold, visit } from "./browser.js";

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

test("the machine says which guards blocked a move and what they saw, and a fork begins at an earlier step", async () => {
  await chooseMachine("assistant");
  await choose("shop");
  await question("How many orders are there per status?");
  await page.getByRole("button", { name: /Machine M/ }).click();
  const panel = page.locator("aside.panel");
  await panel.locator(".node.current").waitFor();
  assert.equal(await panel.locator(".node").count(), 12, "the question and eleven states");
  const [room, graph] = await Promise.all([panel.locator(".graph"), panel.locator(".graph svg")].map((l) => l.evaluate((e) => e.clientWidth || e.width.baseVal.value)));
  assert.ok(graph <= room, `the graph is ${graph} wide, there is room for ${room}`);
  const boxes = await panel.locator(".node rect").evaluateAll((all) => all.map((r) => [r.x, r.y, r.width, r.height].map((v) => v.baseVal.value)));
  boxes.forEach(([x, y, w, h], i) => boxes.slice(i + 1).forEach(([a, b]) => assert.ok(a >= x + w || a + w <= x || b >= y + h || b + h <= y, "states do not lie on each other")));
  const spilt = await panel.locator(".node").evaluateAll((all) => all.flatMap((n) => [...n.querySelectorAll(":scope > text")].filter((t) => t.getComputedTextLength() > n.querySelector("rect").width.baseVal.value - 12).map((t) => t.textContent)));
  assert.deepEqual(spilt, [], "what a state says stays within it");
  await panel.getByRole("button", { name: "Step back" }).click();
  while (await panel.getByRole("button", { name: "Step back" }).isEnabled()) await page.keyboard.press("ArrowLeft");
  await panel.getByText(/step 1 of 9/).waitFor();
  await panel.getByText("looked up before a state was chosen").waitFor();
  await panel.locator(".stations button", { hasText: "SQL retrieval" }).click();
  const guard = panel.locator(".inspector .move.blocked", { hasText: "RAG retrieval" }).first();
  await guard.locator(".no").first().waitFor();
  assert.match(await guard.innerText(), /rag_passes\s*false[\s\S]*dominant\s*false[\s\S]*rag_relevancy\s+0/);
  assert.ok(await panel.locator(".graph .move.blocked .stop").count() >= 1, "the blocked line ends at a bar");
  assert.ok((await panel.locator(".graph").boundingBox()).height > 250, "the graph keeps its place beside long guards");
  // A call of the model: what it said, and what it saw, from the step itself.
  await panel.locator('.stations [data-kind="model"] button').first().click();
  await panel.getByText("It asked for sql_select.").waitFor();
  await panel.getByRole("button", { name: "What it saw" }).click();
  await panel.getByText("System prompt").waitFor();
  await panel.getByRole("tab", { name: "Graph" }).click();
  await panel.locator('.stations [data-kind="tool"] button').last().click();
  await panel.locator(".inspector").getByText("SQL result commentary").first().waitFor(); // the move that its result caused
  const before = await page.evaluate(() => location.hash);
  await panel.getByRole("button", { name: "Fork at 6" }).click();
  await page.waitForFunction((hash) => location.hash !== hash, before);
  await page.getByRole("link", { name: "fork" }).waitFor();
  await page.getByRole("button", { name: /Machine M/ }).click();
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
        description: ${JSON.stringify(tricks[0])}
        ai_context: {synonyms: ${JSON.stringify(["purchases", tricks[1]])}}
        fields:
          - name: status
            label: ${JSON.stringify(tricks[2])}
            description: ${JSON.stringify(tricks[3])}
            expression: {dialects: [{dialect: ANSI_SQL, expression: status}]}
            ai_context: {synonyms: ${JSON.stringify(["standing", tricks[5], tricks[6]])}}
    metrics:
      - name: kept revenue
        description: ${JSON.stringify("What was paid and not returned " + tricks[1] + tricks[2])}
        expression: {dialects: [{dialect: ANSI_SQL, expression: ${expression}}]}
        ai_context: {synonyms: ${JSON.stringify(["takings", tricks[7], tricks[12]])}}
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
  await nothingRan("the meaning of a dataset");
  await chooseMachine("analyst");
  await choose("shop");
  await question("What are the takings?");
  assert.match(await turn().innerText(), /130\.75/);
  await nothingRan("an answer by a metric");
  await ask(page, "How many orders are there per standing?");
  await page.locator(".turn").nth(1).and(page.locator("[data-outcome]:not([data-outcome=running])")).waitFor();
  await unfold(page);
  await nothingRan("an answer with labels and synonyms of the model");
  await visit("#/data/shop/orders");
  await page.locator(".profiles tbody tr[aria-label]").first().waitFor();
  await nothingRan("a table with labels of the model");
});

test("a choice between readings is remembered when the person says so, shown with the meaning, and forgotten again", async () => {
  const asked = "How many orders were there in March 2026?";
  const folder = join(process.env.DATA, "dates");
  await mkdir(folder);
  await writeFile(join(folder, "orders.csv"), "order_id,order_date,ship_date,total\n1,2026-03-01,2026-03-02,10\n2,2026-03-30,2026-04-02,20\n3,2026-02-27,2026-03-02,30\n");
  await visit("#/data/dates");
  await page.getByRole("heading", { name: "dates", exact: true }).waitFor();
  await chooseMachine("analyst");
  await choose("dates");
  const remember = () => turn().getByRole("group", { name: "Always mean this" });
  await question(asked, "asked");
  await turn().getByRole("button", { name: /order date/ }).click();
  await ended(page, "answered", 2);
  await remember().getByRole("button", { name: "Always mean this" }).click();
  await remember().getByText("Remembered.").waitFor();
  await question(asked); // it is not asked again
  assert.match(await turn().locator(".answer").innerText(), /\b2\b/);
  await visit("#/data/dates");
  const choices = page.getByRole("region", { name: "Meaning" }).getByRole("list", { name: "Choices" });
  await choices.getByRole("listitem").first().waitFor();
  assert.equal(await choices.getByRole("listitem").count(), 1);
  await choices.getByRole("button", { name: /^Forget/ }).click();
  await choices.waitFor({ state: "detached" });
  await question(asked, "asked");
  await rm(folder, { recursive: true });
});
