// What people do in odd orders: leave before an answer came, in the middle of a choice.

import assert from "node:assert/strict";
import { test } from "node:test";
import { ask, choose, chooseMachine, ended, overflow, page, phone, pick, question, turn, url, visit } from "./browser.js";

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

test("a thread that began in SQL goes on in SQL, a failed statement stands there, and what was written waits", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  const mode = () => page.locator(".composer .seg [aria-pressed=true]").innerText();
  await page.locator(".composer").getByRole("button", { name: "SQL", exact: true }).click();
  await ask(page, "SELECT staus FROM orders");
  await ended(page, "failed");
  assert.equal(await mode(), "SQL");
  await turn().locator(".cell").getByRole("button", { name: "Edit" }).waitFor();
  // It says what is wrong in words, and mends it by a click.
  assert.match(await turn().innerText(), /There is no column “staus” in these tables/);
  assert.doesNotMatch(await turn().innerText(), /Candidate bindings|tries left|Correct the statement/);
  await turn().getByRole("button", { name: "Run with status" }).click();
  await ended(page, "answered", 2);
  assert.match(await turn().locator(".question").innerText(), /SELECT status FROM orders/);
  const thread = await page.evaluate(() => location.hash);
  await page.fill("#say", "SELECT status");
  await visit("#/data");
  await page.locator(".dataset").first().waitFor();
  await visit("#/ask");
  await page.locator(".start").waitFor();
  assert.deepEqual([await page.inputValue("#say"), await mode()], ["", "Words"], "a new thread begins anew");
  await visit(thread);
  await turn().waitFor();
  assert.deepEqual([await page.inputValue("#say"), await mode()], ["SELECT status", "SQL"]);
  await page.fill("#say", "");
});

test("code of several lines keeps them when it is changed, and what it printed is its result", async () => {
  const code = "PYTHON: n = 6\nprint(n * 7)";
  await question(code);
  await turn().locator(".printed").getByText("42").waitFor();
  assert.doesNotMatch(await turn().innerText(), /exec time ms|column types/);
  await turn().getByRole("button", { name: "Edit the question" }).click();
  const field = page.getByLabel("Your question, changed");
  assert.equal(await field.inputValue(), code);
  await field.fill(code + "\nprint(n * 8)");
  await field.press("Control+Enter");
  await turn().locator(".printed").getByText("48").waitFor();
});

test("on a phone readings, the questions of a machine and the form of a database are not wider than the screen", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  await phone();
  await question("How many orders are there per status?");
  await ask(page, "How many customers are there, and how many of them have ever placed any orders at all?");
  await page.locator(".turn:nth-of-type(2)[data-outcome]:not([data-outcome=running])").waitFor();
  assert.equal(await overflow(page), 0, "with readings");
  await page.getByRole("button", { name: /^Machine/ }).click();
  await page.locator("aside.panel .time select").waitFor();
  assert.equal(await overflow(page), 0, "with the machine");
  await page.getByRole("button", { name: /^Machine/ }).click();
  await visit("#/data");
  await page.getByRole("button", { name: /^Connect/ }).click();
  const right = (part) => part.evaluate((e) => e.getBoundingClientRect().right);
  const form = page.getByRole("form", { name: "Connect a database" });
  for (const name of ["Address", "Password", "Name"]) assert.ok(await right(form.getByLabel(name)) <= await right(form), name);
  for (const place of ["runs", "data/shop/orders"]) {
    await visit("#/" + place);
    const list = page.locator(".list tbody tr").nth(1);
    await list.waitFor();
    assert.ok(await list.evaluate((e) => e.parentElement.parentElement.scrollWidth <= innerWidth), place);
  }
});
