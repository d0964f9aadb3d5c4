// The data side of the page, on the whole program: datasets shop, broken and many, the
// planner of the program as the model, its data folder at DATA, its state at STATE and a database at SQLITE,
// in a folder from which the operator allows sources.

import assert from "node:assert/strict";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ask, ended, overflow, page, refusal, url, visit } from "./browser.js";

const folder = process.env.DATA;
const dataset = (name) => page.locator(`.dataset[aria-label="${name}"]`);
const confirm = () => page.locator("#sure button.danger").click();

async function openPanel() {
  if (await page.locator("#data").isHidden()) await page.click("#showdata");
  await page.locator(".dataset").first().waitFor();
}

// drop lets go of a file over the page, as a file manager does.
async function drop(name, text) {
  const carried = await page.evaluateHandle(([n, t]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([t], n));
    return carried;
  }, [name, text]);
  await page.dispatchEvent("body", "dragenter", { dataTransfer: carried });
  assert.match(await page.locator("#veil").innerText(), /Drop to add to/);
  await page.dispatchEvent("body", "drop", { dataTransfer: carried });
  assert.equal(await page.locator("#veil").isVisible(), false);
}

// forgetOldVersions does at once what the program does some time after their last use.
async function forgetOldVersions() {
  const dir = join(process.env.STATE, "datasets");
  const names = (await readdir(dir)).filter((n) => /^shop-.*\.duckdb$/.test(n));
  const made = await Promise.all(names.map(async (n) => (await stat(join(dir, n))).mtimeMs));
  for (const n of names) if (made[names.indexOf(n)] < Math.max(...made)) await rm(join(dir, n));
}

const saved = async (label) => {
  const [download] = await Promise.all([page.waitForEvent("download"), page.locator(".saves").last().getByText(label, { exact: true }).click()]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
};

test("a file is dropped, asked, paged, exported and deleted", async () => {
  const rows = Array.from({ length: 1200 }, (_, i) => `${i + 1},${["North", "South", "East"][i % 3]},${(i * 7) % 1000}.5`);
  await drop("sales.csv", ["sale_id,region,amount", ...rows].join("\n") + "\n");
  await page.locator("#uploads li.ready").getByText("1,200 rows, 3 columns in sales").waitFor();
  assert.equal(await page.inputValue("#dataset"), "uploads");
  assert.match(await dataset("uploads").innerText(), /1 table · 1,200 rows/);

  await ask(page, "How many sales are there per region?");
  await ended(page, "answered");
  assert.equal(await page.locator(".cell tbody tr").count(), 3);
  assert.match(await page.locator(".cell tbody").innerText(), /North\s+400/);

  await ask(page, "SQL: SELECT * FROM sales ORDER BY sale_id");
  await page.locator(".turn .badge.answered").nth(1).waitFor();
  const foot = page.locator(".turn").nth(1).locator(".foot"), body = page.locator(".turn").nth(1).locator("tbody");
  assert.match(await foot.innerText(), /1–50 of the first 200 rows \(limited\)/);
  await foot.getByLabel("Filter rows").fill("EAST");
  await foot.getByText("1–50 of 66 found in the first 200 rows").waitFor();
  await foot.getByLabel("Filter rows").fill("");
  await foot.getByText("Page through all rows").click();
  await foot.getByText("1–50 of 1,200 rows").waitFor();
  const number = (n) => n.toLocaleString("en-US");
  for (let from = 51; from < 1200; from += 50) {
    await foot.getByText("Next").click();
    await foot.getByText(`${number(from)}–${number(from + 49)} of 1,200 rows`).waitFor();
  }
  assert.match(await body.locator("tr").last().innerText(), /^1200\s/);
  assert.equal(await foot.getByText("Next").isDisabled(), true);
  await page.locator(".turn").nth(1).locator("thead").getByText("amount").click();
  await foot.getByText("1–50 of 1,200 rows").waitFor();
  assert.match(await body.locator("tr").first().innerText(), /0\.5$/);
  assert.match(await page.locator(".turn").nth(1).locator(".lineage").innerText(), /1,200 rows from sales, data version [0-9a-f]{12}/);

  await foot.getByLabel("Filter rows").fill("north");
  await foot.getByText("1–50 of 400 found in 1,200 rows").waitFor();
  await foot.getByLabel("Filter rows").fill("");
  await foot.getByText("1–50 of 1,200 rows").waitFor();

  const begins = { CSV: "sale_id,region,amount\n1,North,", Excel: "PK", Parquet: "PAR1", JSON: '[{"sale_id":1,', Arrow: "\xff\xff\xff\xff" };
  for (const [label, start] of Object.entries(begins)) {
    const { name, content } = await saved(label);
    assert.match(name, /^uploads-sales\./);
    assert.equal(content.subarray(0, start.length).toString("latin1"), start, label);
    if (label === "CSV") assert.equal(content.toString().trim().split("\n").length, 1201);
  }

  await dataset("uploads").locator("summary").click();
  await dataset("uploads").getByText("Delete").click();
  assert.match(await page.locator("#sure").innerText(), /Delete the file sales\.csv of uploads\?/);
  await page.locator("#sure").getByText("Keep").click();
  await dataset("uploads").getByText("Delete").click();
  await confirm();
  await dataset("uploads").waitFor({ state: "detached" });
  assert.equal(await page.inputValue("#dataset"), "");
});

test("where the data of a run are gone, that is said and today's are offered", async () => {
  await writeFile(join(folder, "shop", "stock.csv"), "id,units\n" + Array.from({ length: 300 }, (_, i) => `${i},1`).join("\n"));
  await openPanel();
  await dataset("shop").locator(".choose").click();
  await dataset("shop").getByText("stock").first().waitFor();
  await ask(page, "SQL: SELECT * FROM stock");
  await ended(page, "answered");
  await writeFile(join(folder, "shop", "stock.csv"), "id,units\n1,5\n");
  await dataset("shop").getByText("1 × 2").waitFor();
  // The version of the run is kept for a while: it is what is exported.
  assert.equal((await saved("CSV")).content.toString().trim().split("\n").length, 301);
  await forgetOldVersions();
  await page.locator(".saves").getByText("JSON").click();
  await page.locator(".lineage.error").getByText("have changed since").waitFor();
  refusal(409)();
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Use today's data" }).click()]);
  assert.deepEqual(JSON.parse(await readFile(await download.path())), [{ id: 1, units: 5 }]);
  await page.locator(".lineage").getByText("These are not the data of the answer").waitFor();
  await rm(join(folder, "shop", "stock.csv"));
});

test("a broken file is named with its reason, and the rest works", async () => {
  await openPanel();
  const broken = dataset("broken");
  await broken.locator(".problems b").getByText("bad.parquet").waitFor();
  assert.match(await broken.locator(".problems").innerText(), /bad\.parquet \S+/);
  assert.match(await broken.innerText(), /good\s+2 × 2/);
  await broken.locator(".choose").click();
  await drop("worse.xlsx", "this is not Excel");
  await page.locator("#uploads li.refused").getByText("It cannot be read:").waitFor();
  await broken.locator(".problems b").getByText("worse.xlsx").waitFor();
  await broken.locator(".problems li", { hasText: "worse.xlsx" }).getByText("Delete").click();
  await confirm();
  await broken.locator(".problems b").getByText("worse.xlsx").waitFor({ state: "detached" });
});

test("a refused file says why, and a taken name can be replaced", async () => {
  await openPanel();
  await dataset("many").locator(".choose").click();
  await drop("tool.exe", "MZ");
  await page.locator("#uploads li.refused").getByText("is no file of data").waitFor();
  refusal(400)();
  await drop("lines.csv", "id\n1\n2\n");
  await page.getByText("There is a file of this name already.").waitFor();
  refusal(409)();
  await page.getByText("Replace it").click();
  await page.locator("#uploads li.ready").getByText("2 rows, 1 columns in lines").waitFor();
  await dataset("many").getByText("2 × 1").waitFor();
});

test("names of files and columns are text, however hostile", async () => {
  await openPanel();
  const evil = "<img src=x onerror=document.title=1>";
  await dataset("shop").locator(".choose").click();
  await drop("x'><script>alert(1)</script>.csv", `"${evil}","=cmd|' /C calc'!A0"\n"<b>bold</b>",2\n`);
  await page.locator("#uploads li.ready").waitFor();
  const details = dataset("shop").locator("details", { hasText: "script" });
  await details.locator("summary").click();
  assert.match(await details.innerText(), /<img src=x onerror=document\.title=1>/);
  await details.getByText("Look inside").click();
  await page.locator("#explore .profile").first().waitFor();
  assert.match(await page.locator("#explore tbody").innerText(), /<b>bold<\/b>/);
  assert.equal(await page.locator("#data img, #data script, #explore img, #explore b, #explore script").count(), 0);
  assert.equal(await page.title(), "Interlock");
  await page.locator("#explore form[method=dialog] button").click();
  await details.getByText("Delete").click();
  await confirm();
  await details.waitFor({ state: "detached" });
});

test("a table is looked into: profile, rows, conditions", async () => {
  await openPanel();
  await dataset("shop").locator("details", { hasText: "customers" }).locator("summary").click();
  await dataset("shop").locator("details[open]").getByText("Look inside").click();
  const box = page.locator("#explore");
  await box.locator('.profile[aria-label="city"]').waitFor();
  assert.match(await box.locator('.profile[aria-label="city"]').innerText(), /2 distinct[\s\S]*Bern\s+2/);
  await box.getByText("Add a condition").click();
  await box.getByLabel("Column").selectOption("city");
  await box.getByLabel("Value").fill("Basel");
  await box.getByText("Show", { exact: true }).click();
  await box.getByText("1 row", { exact: true }).waitFor();
  await box.getByLabel("Condition", { exact: true }).selectOption("gt");
  await box.getByLabel("Column").selectOption("id");
  await box.getByLabel("Value").fill("many");
  await box.getByText("Show", { exact: true }).click();
  await box.locator(".rows .error").waitFor();
  refusal(422)();
});

test("what changes on disk is shown within two seconds, and nothing is drawn otherwise", async () => {
  await openPanel();
  await dataset("shop").waitFor();
  await page.evaluate(() => {
    globalThis.drawn = 0;
    new MutationObserver(() => { globalThis.drawn++; }).observe(document.getElementById("datasets"), { childList: true, subtree: true });
  });
  const answers = [];
  page.on("response", (r) => { if (r.url().endsWith("/api/datasets")) answers.push(r); });
  while (answers.length < 2) await page.waitForEvent("response");
  assert.equal(await page.evaluate(() => globalThis.drawn), 0);
  const began = Date.now();
  await writeFile(join(folder, "shop", "late.csv"), "id\n1\n");
  await dataset("shop").getByText("late", { exact: true }).waitFor();
  assert.ok(Date.now() - began < 2500, `after ${Date.now() - began} ms`);
  await rm(join(folder, "shop", "late.csv"));
  await dataset("shop").getByText("late", { exact: true }).waitFor({ state: "detached" });
});

test("a database that does not answer is refused, and its password is gone from the page", async () => {
  await openPanel();
  await page.click("#connect");
  await page.getByLabel("Address").fill("postgres://ann@127.0.0.1:1/shop");
  await page.getByLabel("Password").fill("p@ss/word#1");
  const [sent] = await Promise.all([page.waitForRequest(url + "/api/sources"), page.getByRole("button", { name: "Connect", exact: true }).click()]);
  assert.equal(sent.postDataJSON().url, "postgres://ann:p%40ss%2Fword%231@127.0.0.1:1/shop");
  await page.locator(".connect .error").waitFor();
  assert.equal(await page.getByLabel("Password").inputValue(), "");
  assert.doesNotMatch(await page.locator("body").innerText(), /p@ss|p%40ss/);
  refusal((await sent.response()).status())();
});

test("a database outside of the allowed folders is refused, with what to do", async () => {
  await openPanel();
  await page.click("#connect");
  await page.getByLabel("Address").fill("sqlite:" + join(folder, "..", "elsewhere.sqlite"));
  await page.getByRole("button", { name: "Connect", exact: true }).click();
  const error = page.locator(".connect .error");
  await error.waitFor();
  assert.match(await error.innerText(), /must lie in a data folder\. Put the file into a data folder, or .*--source-folders/);
  refusal(403)();
});

for (const there of [false, true]) {
  test(`a database is connected, asked, exported and removed, ${there ? "queried where it is" : "as a copy"}`, async () => {
    await openPanel();
    await page.click("#connect");
    await page.getByLabel("Address").fill("sqlite:" + process.env.SQLITE);
    await page.getByLabel("Name").fill("stock");
    await page.getByLabel("Query it where it is").setChecked(there);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await dataset("stock").waitFor();
    assert.equal(await page.inputValue("#dataset"), "stock");
    await dataset("stock").getByText("Read its tables").click();
    await dataset("stock").getByText("3 × 3").waitFor();
    assert.equal(/where it is/.test(await dataset("stock").innerText()), there);
    await ask(page, "SQL: SELECT part_id, name FROM parts ORDER BY price DESC");
    await ended(page, "answered");
    assert.match(await page.locator(".cell tbody tr").first().innerText(), /3\s+gear/);
    assert.equal((await saved("CSV")).content.toString(), "part_id,name\n3,gear\n1,bolt\n2,nut\n");
    await dataset("stock").getByText("Remove this source").click();
    await confirm();
    await dataset("stock").waitFor({ state: "detached" });
  });
}

test("long numbers keep every digit, and types say how a column is written", async () => {
  await drop("big.csv", "units,day\n9007199254740995,2024-01-05\n9007199254740993,2024-02-01\n-7,2024-03-01\n");
  await page.locator("#uploads li.ready").waitFor();
  await ask(page, "SQL: SELECT units, CAST('-12345678901234567890123456.012345678901' AS DECIMAL(38,12)) AS amount, day FROM big ORDER BY day");
  await ended(page, "answered");
  const rows = page.locator(".cell tbody tr"), texts = () => rows.evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.textContent)));
  const amount = "-12,345,678,901,234,567,890,123,456.012345678901";
  const [first, second, third] = [["9,007,199,254,740,995", amount, "2024-01-05"], ["9,007,199,254,740,993", amount, "2024-02-01"], ["-7", amount, "2024-03-01"]];
  assert.deepEqual(await texts(), [first, second, third]);
  assert.deepEqual(await rows.first().evaluate((r) => [...r.cells].map((c) => c.className)), ["number", "number", ""]);
  await page.locator(".cell thead").getByText("units").click();
  assert.deepEqual(await texts(), [third, second, first]);

  await dataset("uploads").locator("details", { hasText: "big" }).locator("summary").click();
  await dataset("uploads").getByText("Look inside").click();
  await page.locator("#explore tbody").getByText("9,007,199,254,740,995").waitFor();
  await page.locator("#explore form[method=dialog] button").click();

  const [parsed, drawn] = await page.evaluate(async () => {
    const { parseJSON } = await import("/static/number.js"), { resultTable } = await import("/static/table.js");
    const table = resultTable({ columns: ["day", "at", "rate"], column_types: ["DATE", "TIMESTAMP", "DOUBLE"], rows: [["2024-01-05 00:00:00", "2024-01-05 00:00:00", 1 / 3]] });
    return [parseJSON('[9007199254740995, -1234567890.12345678901234, 0.1, 7]'), [...table.querySelectorAll("td")].map((c) => [c.textContent, c.title])];
  });
  assert.deepEqual(parsed, ["9007199254740995", "-1234567890.12345678901234", 0.1, 7]);
  assert.deepEqual(drawn, [["2024-01-05", ""], ["2024-01-05 00:00:00", ""], ["0.333333", String(1 / 3)]]);
  await dataset("uploads").getByText("Delete").click();
  await confirm();
  await dataset("uploads").waitFor({ state: "detached" });
});

test("what Python prints and draws is on the page", async () => {
  await page.selectOption("#dataset", "shop");
  await page.click("#tune");
  await page.locator("#settings label", { hasText: "Seconds a Python run may take" }).locator("input").fill("120");
  await page.click("#tune");
  await ask(page, "PYTHON: print('five orders')\nplt.plot([1, 3, 2])");
  await ended(page, "answered");
  const cell = page.locator(".cell").last();
  assert.match(await cell.locator(".printed").innerText(), /five orders/);
  const picture = cell.locator("img.picture");
  await picture.waitFor();
  await page.waitForFunction((img) => img.complete && img.naturalWidth > 0, await picture.elementHandle());
  if (process.env.SHOTS) await page.screenshot({ path: process.env.SHOTS + "/python.png" });
  await ask(page, "PYTHON: print('as far as here')\n1/0");
  await ended(page, "failed");
  assert.match(await page.locator(".cell").last().locator(".printed").innerText(), /as far as here/);
});

test("the files of an earlier turn stay its own when the same code runs again", async () => {
  await page.selectOption("#dataset", "shop");
  for (let turns = 1; turns <= 2; turns++) {
    await ask(page, "PYTHON: import time\nopen('when.txt', 'w').write(str(time.time_ns()))");
    await page.locator(".turn .badge.answered").nth(turns - 1).waitFor();
  }
  const links = page.locator(".turn").getByRole("link", { name: "when.txt" });
  assert.equal(await links.count(), 2);
  const times = [];
  for (let i = 0; i < 2; i++) {
    const [download] = await Promise.all([page.waitForEvent("download"), links.nth(i).click()]);
    times.push(BigInt((await readFile(await download.path())).toString()));
  }
  assert.ok(times[0] < times[1], `the first turn gives ${times[0]}, the second ${times[1]}`);
});

test("machines that can do all of their work say nothing in the picker", async () => {
  for (const name of ["assistant", "analyst"]) {
    assert.doesNotMatch(await page.locator(`#machine option[value=${name}]`).innerText(), /not complete/);
  }
  await page.selectOption("#machine", "assistant");
  assert.equal(await page.getByText("This machine is not complete").count(), 0);
  if (process.env.SHOTS) await page.screenshot({ path: process.env.SHOTS + "/machine.png" });
});

test("on a phone the panel and a table fit the screen", async () => {
  await visit({ width: 390, height: 844 });
  await openPanel();
  assert.equal(await overflow(page), 0);
  await dataset("shop").locator("summary").first().click();
  await dataset("shop").getByText("Look inside").first().click();
  await page.locator("#explore .profile").first().waitFor();
  assert.equal(await page.locator("#explore").evaluate((d) => d.scrollWidth - d.clientWidth), 0);
});
