// What people do in odd orders: leave before an answer came, in the middle of a choice.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, choose, chooseMachine, page, pick, question, turn, url, visit } from "./browser.js";

const frames = () => page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done))));

// hold keeps the answers of the server back until the returned function lets them go and waits until the page has them.
async function hold() {
  let release;
  const let_go = new Promise((go) => { release = go; });
  const under_way = [];
  const isCall = (address) => /^\/(api|runs|datasets|readyz)\b/.test(address.pathname) && !address.pathname.endsWith("/events");
  await page.route(isCall, (asked) => {
    under_way.push(let_go.then(() => asked.fetch()).then((response) => asked.fulfill({ response })));
  });
  return async () => {
    release();
    for (let n = 0; n < under_way.length; n++) await under_way[n];
    await page.unroute(isCall);
    await frames();
  };
}

test("a view that is left in the middle of a choice or before its answers came leaves no error behind", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  await question("How many orders are there per status?");
  const thread = await page.evaluate(() => location.hash);

  // With a reading, a menu and a question of the page still open.
  await turn().getByRole("button", { name: /^Change by/ }).click();
  await visit("#/data/shop");
  await page.getByRole("region", { name: "Meaning" }).waitFor();
  await page.getByRole("button", { name: "More about shop" }).click();
  await visit(thread);
  await turn().getByRole("button", { name: /^Kind of chart/ }).click();
  await visit("#/data/shop");
  await pick("More about shop", "Delete orders.csv");
  await page.locator("dialog[open]").waitFor();
  await visit("#/runs");
  await page.locator("tbody a").first().waitFor();

  // With nothing answered yet: the question is asked all the same, and the person stays where they went.
  await visit("#/ask");
  await page.locator(".start").waitFor();
  const release = await hold();
  await ask(page, "How many customers are there?");
  for (const place of ["data/shop", "data/shop/orders", "documents", "artifacts", "runs", "settings", "reconcile", thread.slice(2), "data"]) {
    await visit("#/" + place);
    await page.locator("main .top h1").waitFor();
    await frames();
  }
  await release();
  assert.equal(await page.evaluate(() => location.hash), "#/data");
  await page.locator(".threads a", { hasText: "How many customers are there?" }).first().waitFor();
  assert.ok((await (await page.request.get(url + "/api/threads")).json()).threads.some((t) => t.title.includes("How many customers")));
});
