// The built page as a person uses it, against a server whose turns are scripted by the first
// word of the message.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, ended, logText, overflow, page, tab, unfold, visit } from "./app.js";

test("the answer comes first: sentence, result, then the steps in one line", async () => {
  await ask(page, "everything about revenue");
  await page.locator(".answer.coming").first().waitFor(); // text that is still being written
  await ended(page, "answered");
  assert.equal(await page.locator(".answer.coming").count(), 0);
  const turn = page.locator(".turn").last(), below = async (selector) => (await turn.locator(selector).first().boundingBox()).y;
  assert.ok(await below(".answer") < await below(".result"), "the answer stands above the result");
  assert.ok(await below(".result") < await below(".trace"), "the result stands above the steps");
  assert.equal(await turn.locator(".cell").count(), 0, "steps are folded");
  assert.equal(await turn.locator(".result tbody tr").count(), 4);
  assert.match(await turn.locator(".result thead").innerText(), /revenue/);

  await unfold(page);
  const cell = turn.locator('.cell[aria-label="Tool execute_sql"]').first();
  assert.match(await cell.locator("pre").innerText(), /GROUP BY region/);
  assert.equal(await cell.getAttribute("data-status"), "done");
  assert.match(await turn.innerText(), /revenue by region\.csv/);
  assert.match(await turn.locator(".cell[data-status=duplicate]").innerText(), /same call as before/);
  assert.match(await turn.locator(".cell[data-status=refused]").innerText(), /FEATURE_DISABLED/);
});

test("long values are folded, and a click opens them", async () => {
  await ask(page, "everything");
  await ended(page, "answered");
  await unfold(page);
  const earlier = page.locator(".cell[data-status=duplicate] .folded").first();
  assert.equal(await earlier.locator("table, dl").first().isVisible(), false);
  await earlier.locator("summary").click();
  assert.equal(await earlier.locator("table, dl").first().isVisible(), true);
});

test("what a model writes is text: no markup of its own, no pictures from elsewhere", async () => {
  await ask(page, "everything");
  await ended(page, "answered");
  const answer = page.locator(".turn .answer").last();
  assert.equal(await answer.locator("strong").innerText(), "North");
  assert.equal(await answer.locator("img").count(), 0);
  assert.match(await answer.innerText(), /<b>not bold<\/b>/);
});

test("a run that gave no answer says so, and never in green", async () => {
  const colour = (kind) => page.locator(`.turn [data-outcome="${kind}"]`).last().evaluate((b) => getComputedStyle(b).color);
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  for (const [word, outcome] of [["reject", "refused"], ["decline", "declined"], ["question", "asked"], ["fail", "failed"]]) {
    await ask(page, word);
    await ended(page, outcome);
    const [red, green, blue] = (await colour(outcome)).match(/\d+/g).map(Number);
    assert.ok(!(green > red + 30 && green > blue + 30), `${outcome} is green: ${await colour(outcome)}`);
  }
});

test("a card is answered by its key", async () => {
  await ask(page, "card please");
  const card = page.locator(".card");
  await card.waitFor();
  assert.match(await card.innerText(), /Is this a match\?/);
  await page.evaluate(() => document.activeElement.blur());
  await page.keyboard.press("y");
  await ended(page, "answered");
  await page.locator(".turn .folded summary").first().click();
  assert.match(await card.locator(".chosen").innerText(), /Confirm/);
  assert.equal(await card.locator("button:enabled").count(), 0);
});

test("stop ends the turn, and the next question can be asked", async () => {
  await ask(page, "wait for me");
  await page.locator(".turn .live").waitFor();
  await page.getByText("Thinking").first().waitFor();
  assert.equal(await page.getByRole("button", { name: "Ask" }).count(), 0);
  await page.getByRole("button", { name: /^Stop/ }).click();
  await ended(page, "stopped");
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
});

test("Escape stops the turn", async () => {
  await ask(page, "wait for me");
  await page.getByText("Thinking").first().waitFor();
  await page.keyboard.press("Escape");
  await ended(page, "stopped");
});

test("a page that is loaded again in the middle of an answer shows the whole of it once", async () => {
  await ask(page, "everything");
  await page.locator(".answer.coming").first().waitFor();
  await page.reload();
  await ended(page, "answered");
  await unfold(page);
  const reloaded = await logText(page);
  await page.reload();
  await ended(page, "answered");
  await unfold(page);
  assert.equal(reloaded, await logText(page));
  assert.equal(await page.getByText("Let me look at the schema first.").count(), 1);
});

test("a turn that was left running can be stopped after the page was loaded again", async () => {
  await ask(page, "wait");
  await page.getByText("Thinking").first().waitFor();
  await page.reload();
  await page.getByText("Thinking").first().waitFor();
  await page.getByRole("button", { name: /^Stop/ }).click();
  await ended(page, "stopped");
});

test("two tabs on one thread see the same, whoever asks", async () => {
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  const other = await tab(await page.evaluate(() => location.hash));
  await ended(other, "answered");
  await ask(other, "card");
  await page.locator(".card").waitFor();
  await page.locator(".card button.primary").first().click();
  await Promise.all([page, other].map((p) => p.locator('.turn[data-outcome="answered"]').nth(1).waitFor()));
  for (const p of [page, other]) await p.getByText("3 confirmed pairs").first().waitFor();
  assert.equal(await logText(page), await logText(other));
});

test("an edited question is asked in a fork, and the old answer stays", async () => {
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  await ask(page, "decline");
  await ended(page, "declined");
  const before = await page.evaluate(() => location.hash);
  await page.locator(".turn").last().getByLabel("Edit the question").click();
  await page.getByLabel("Your question, changed").fill("SQL: select 2");
  await page.getByLabel("Your question, changed").press("Enter");
  await page.waitForFunction((hash) => location.hash !== hash, before);
  await page.locator('.turn[data-outcome="answered"]').nth(1).waitFor();
  assert.match(await logText(page), /select 1[\s\S]*select 2/);
  await page.goto((await page.evaluate(() => location.origin + location.pathname)) + before);
  await ended(page, "declined");
});

test("the machine shows its graph, the path taken and what the model saw", async () => {
  await ask(page, "everything");
  await ended(page, "answered");
  await page.getByRole("button", { name: /Machine M/ }).click();
  const panel = page.locator("aside.panel");
  await panel.locator(".node.current").waitFor();
  assert.ok(await panel.locator(".node").count() >= 2);
  assert.match(await panel.locator(".inspector").innerText(), /Entered because/);
  assert.match(await panel.locator(".inspector").innerText(), /FEATURE_DISABLED|feature disabled|Nothing was blocked|guard/i);
  await panel.getByRole("tab", { name: /Facts/ }).click();
  await panel.getByRole("tab", { name: /Graph/ }).click();
  await page.keyboard.press("m");
  await panel.waitFor({ state: "detached" });
});

test("the palette goes to places and threads by keyboard alone", async () => {
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or do" }).fill("go to runs");
  await page.keyboard.press("Enter");
  await page.getByRole("heading", { name: "Runs" }).waitFor();
  await page.locator("tbody a").first().waitFor();
});

test("on a phone nothing is wider than the screen", async () => {
  await visit({ width: 390, height: 844 });
  assert.equal(await overflow(page), 0, "before a question");
  await ask(page, "everything");
  await ended(page, "answered");
  assert.equal(await overflow(page), 0, "with an answer");
  await ask(page, "card");
  await page.locator(".card").waitFor();
  assert.equal(await overflow(page), 0, "with a card");
  for (const place of ["data", "runs", "settings", "reconcile"]) {
    await page.locator(`.tabbar a[href="#/${place}"]`).click();
    await page.locator(".top h1").waitFor();
    assert.equal(await overflow(page), 0, place);
  }
});

test("a thread is kept in the address and in the list, and is found by its title", async () => {
  await ask(page, "SQL: select 4711");
  await ended(page, "answered");
  const hash = await page.evaluate(() => location.hash);
  await page.getByRole("link", { name: "New thread" }).click();
  await page.getByText("What do you want to know?").first().waitFor();
  await page.getByLabel("Find a thread").fill("4711");
  await page.locator(".threads li").nth(1).waitFor({ state: "detached" });
  await page.click(`.threads a[href="${hash}"]`);
  await ended(page, "answered");
});
