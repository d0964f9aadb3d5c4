// The page as a person uses it, against a server whose turns are scripted by the first
// word of the message.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, ended, logText, overflow, page, tab, visit } from "./browser.js";

test("an answer comes in pieces, with its calls, their results and their refusals", async () => {
  await ask(page, "everything about revenue");
  await page.locator(".text.coming").first().waitFor(); // text that is still being written
  await ended(page, "answered");
  assert.equal(await page.locator(".text.coming").count(), 0);

  const cell = page.locator('.cell[aria-label="Tool execute_sql"]').first();
  assert.match(await cell.locator("pre").innerText(), /GROUP BY region/);
  assert.equal(await cell.locator(".badge").innerText(), "done");
  assert.equal(await cell.locator("tbody tr").count(), 4);
  assert.match(await cell.locator("thead").innerText(), /revenue/);
  assert.match(await cell.locator(".files").innerText(), /revenue by region\.csv/);
  assert.match(await page.locator(".cell .badge.skipped").innerText(), /same call as before/);
  assert.match(await page.locator(".cell .badge.refused").innerText(), /FEATURE_DISABLED/);
});

test("long values are folded, and a click opens them", async () => {
  await ask(page, "everything");
  await ended(page, "answered");
  const earlier = page.locator(".cell .folded").first();
  assert.equal(await earlier.locator("pre, table").first().isVisible(), false);
  await earlier.locator("summary").click();
  assert.equal(await earlier.locator("pre, table").first().isVisible(), true);
});

test("what a model writes is text: no markup of its own, no pictures from elsewhere", async () => {
  await ask(page, "everything");
  await ended(page, "answered");
  const answer = page.locator(".turn .text").last();
  assert.equal(await answer.locator("strong").innerText(), "North");
  assert.equal(await answer.locator("img").count(), 0);
  assert.match(await answer.innerText(), /<b>not bold<\/b>/);
});

test("a run that gave no answer says so, and never in green", async () => {
  const colour = (kind) => page.locator(`.turn .end .badge.${kind}`).last().evaluate((b) => getComputedStyle(b).color);
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  const good = await colour("answered");
  for (const [word, outcome] of [["reject", "refused"], ["decline", "declined"], ["question", "asked"], ["fail", "failed"]]) {
    await ask(page, word);
    await page.locator(`.turn .end .badge.${outcome}`).waitFor();
    assert.equal(await page.locator(`.turn .end .badge.${outcome}`).innerText(), outcome);
    assert.notEqual(await colour(outcome), good);
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
  assert.match(await card.locator(".chosen").innerText(), /Confirm/);
  assert.equal(await card.locator("button:enabled").count(), 0);
});

test("stop ends the turn, and the next question can be asked", async () => {
  await ask(page, "wait for me");
  await page.getByText("Thinking").waitFor();
  assert.equal(await page.locator("#send").isVisible(), false);
  await page.click("#stop");
  await ended(page, "stopped");
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
});

test("a page that is loaded again in the middle of an answer shows the whole of it once", async () => {
  await ask(page, "everything");
  await page.locator(".text.coming").first().waitFor();
  await page.reload();
  await ended(page, "answered");
  const reloaded = await logText(page);
  await page.reload();
  await ended(page, "answered");
  assert.equal(reloaded, await logText(page));
  assert.equal(await page.getByText("Let me look at the schema first.").count(), 1);
});

test("a turn that was left running can be stopped after the page was loaded again", async () => {
  await ask(page, "wait");
  await page.getByText("Thinking").waitFor();
  await page.reload();
  await page.getByText("Thinking").waitFor();
  await page.click("#stop");
  await ended(page, "stopped");
});

test("two tabs on one thread see the same, whoever asks", async () => {
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  const other = await tab(await page.evaluate(() => location.hash));
  await ended(other, "answered");
  await ask(other, "card");
  await page.locator(".card").waitFor();
  await page.locator(".card button").first().click();
  await other.locator(".card.closed").waitFor();
  for (const p of [page, other]) await p.getByText("3 confirmed pairs").waitFor();
  await Promise.all([page, other].map((p) => p.locator(".turn .badge.answered").nth(1).waitFor()));
  assert.equal(await logText(page), await logText(other));
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
  await page.click("#menu");
  await page.locator("#threads a").first().waitFor();
  assert.equal(await overflow(page), 0, "with the threads");
});

test("a thread is kept in the address and in the list", async () => {
  await ask(page, "SQL: select 1");
  await ended(page, "answered");
  const hash = await page.evaluate(() => location.hash);
  await page.click("#fresh");
  await page.locator(".welcome").waitFor();
  await page.click(`#threads a[href="${hash}"]`);
  await ended(page, "answered");
});

test("figures of an answer are marked where nothing supports them", async () => {
  const html = await page.evaluate(async () => {
    const [{ markFigures }, { markdown }, { el }] = await Promise.all(["figures", "markdown", "dom"].map((m) => import(`/static/${m}.js`)));
    const node = el(".text", markdown("North made **1,234** of 24 `24` and 4,711."));
    markFigures(node, { unsupported: 1, figures: [
      { text: "1,234", support: "cell", cells: [{ table: "c", row: 0, column: "n" }] }, { text: "24", support: "weak" }, { text: "4,711", support: "none" }] });
    return node.innerHTML;
  });
  assert.match(html, /<span class="figure cell" title="from c, column n, row 1">1,234</);
  assert.match(html, /<span class="figure none"[^>]*>4,711<sup/);
  assert.match(html, /<code>24<\/code>/);
  assert.match(html, /1 of 3 figures have no origin/);
});
