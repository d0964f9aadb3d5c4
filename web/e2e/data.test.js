// The data side of the page, on the whole program: datasets shop, broken and many, the
// planner of the program as the model, its data folder at DATA, its state at STATE and a database at SQLITE,
// in a folder from which the operator allows sources.

import assert from "node:assert/strict";
import { readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { test } from "node:test";
import { ask, choose, ended, overflow, page, phone, pick, question, refusal, reload, result, turn, url, visit } from "./browser.js";

const folder = process.env.DATA;
const dataset = (name) => page.locator(`.dataset[aria-label="${name}"]`);
const confirm = () => page.locator("dialog[open] button.danger").click();
const upload = (file) => page.locator(".uploads li", { hasText: file }).last();

async function openData() {
  await visit("#/data");
  await page.locator(".dataset").first().waitFor();
}

// openTable looks into a table of a dataset.
async function openTable(of, table) {
  await visit(`#/data/${of}/${table}`);
  await page.locator(".profiles tbody tr[aria-label]").first().waitFor();
}

// drop lets go of a file over the page, as a file manager does.
async function drop(name, text) {
  const carried = await page.evaluateHandle(([n, t]) => {
    const carried = new DataTransfer();
    carried.items.add(new File([t], n));
    return carried;
  }, [name, text]);
  await page.dispatchEvent("body", "dragenter", { dataTransfer: carried });
  await page.locator(".veil").getByText("Drop to add to").waitFor();
  await page.dispatchEvent("body", "drop", { dataTransfer: carried });
  await page.locator(".veil").waitFor({ state: "detached" });
}

// forgetOldVersions does at once what the program does some time after their last use.
async function forgetOldVersions() {
  const dir = join(process.env.STATE, "datasets");
  const names = (await readdir(dir)).filter((n) => /^shop-.*\.duckdb$/.test(n));
  const made = await Promise.all(names.map(async (n) => (await stat(join(dir, n))).mtimeMs));
  for (const n of names) if (made[names.indexOf(n)] < Math.max(...made)) await rm(join(dir, n));
}

const exportAs = async (label) => {
  await result().getByRole("button", { name: /^Download/ }).click();
  await result().getByRole("menuitem", { name: `All rows as ${label}`, exact: true }).click();
};

const saved = async (label) => {
  const [download] = await Promise.all([page.waitForEvent("download"), exportAs(label)]);
  return { name: download.suggestedFilename(), content: await readFile(await download.path()) };
};

test("a file is dropped, asked, shown whole, exported and deleted", async () => {
  await choose("any data");
  const rows = Array.from({ length: 1200 }, (_, i) => `${i + 1},${["North", "South", "East"][i % 3]},${(i * 7) % 1000}.5`);
  await drop("sales.csv", ["sale_id,region,amount", ...rows].join("\n") + "\n");
  await upload("sales.csv").getByText("1,200 rows, 3 columns in sales").waitFor();
  assert.match(await dataset("uploads").innerText(), /sales\s+1,200/);
  await upload("sales.csv").getByRole("link", { name: "Look inside" }).click();
  await page.locator('.profiles tr[aria-label="region"]').waitFor();
  await upload("sales.csv").getByRole("button", { name: "Ask about it" }).click();
  await page.getByRole("button", { name: "Dataset: uploads" }).waitFor();

  await question("How many sales are there per region?");
  assert.equal(await result().locator("tbody tr").count(), 3);
  assert.match(await result().locator("tbody").innerText(), /North\s+400/);

  await question("SQL: SELECT * FROM sales ORDER BY sale_id");
  const body = result().locator("tbody"), counted = (text) => result().locator(".count").getByText(text, { exact: true }).waitFor();
  if (await result().getByRole("button", { name: "Table", exact: true }).count()) await result().getByRole("button", { name: "Table", exact: true }).click();
  await counted("the first 200 rows (limited)");
  await result().getByLabel("Filter rows").fill("EAST");
  await counted("66 found in the first 200 rows (limited)");
  await result().getByLabel("Filter rows").fill("");
  await result().getByText("Show all rows").click();
  await counted("1,200 rows");
  const box = result().getByRole("region", { name: "Result" });
  await box.evaluate((b) => b.scrollTo({ top: b.scrollHeight }));
  await body.locator("tr").last().getByText("1200", { exact: true }).waitFor();
  await result().locator("thead").getByText("amount").click();
  await body.locator('tr[aria-rowindex="2"]').getByText("0.5", { exact: true }).waitFor();
  await result().locator(".lineage").getByText(/1,200 rows from sales, data version [0-9a-f]{12}/).waitFor();
  await result().getByLabel("Filter rows").fill("north");
  await counted("400 found in 1,200 rows");
  await result().getByLabel("Filter rows").fill("");
  await counted("1,200 rows");

  const begins = { CSV: "sale_id,region,amount\n1,North,", Excel: "PK", Parquet: "PAR1", JSON: '[{"sale_id":1,', Arrow: "\xff\xff\xff\xff" };
  for (const [label, start] of Object.entries(begins)) {
    const { name, content } = await saved(label);
    assert.match(name, /^uploads-sales\./);
    assert.equal(content.subarray(0, start.length).toString("latin1"), start, label);
    if (label === "CSV") assert.equal(content.toString().trim().split("\n").length, 1201);
  }

  await openTable("uploads", "sales");
  await page.getByRole("button", { name: "Delete sales.csv" }).click();
  assert.match(await page.locator("dialog[open]").innerText(), /Delete the file sales\.csv of uploads\?/);
  await page.locator("dialog[open]").getByText("Keep").click();
  await page.getByRole("button", { name: "Delete sales.csv" }).click();
  await confirm();
  await dataset("uploads").waitFor({ state: "detached" });
});

test("where the data of a run are gone, that is said and today's are offered", async () => {
  await writeFile(join(folder, "shop", "stock.csv"), "id,units\n" + Array.from({ length: 300 }, (_, i) => `${i},1`).join("\n"));
  await choose("shop");
  await visit("#/data/shop");
  await dataset("shop").getByText("stock", { exact: true }).waitFor();
  await question("SQL: SELECT * FROM stock");
  const thread = await page.evaluate(() => location.hash);
  await writeFile(join(folder, "shop", "stock.csv"), "id,units\n1,5\n");
  await visit("#/data/shop");
  await dataset("shop").locator("li", { hasText: "stock" }).getByText("1", { exact: true }).waitFor();
  await visit(thread);
  await ended(page, "answered");
  // The version of the run is kept for a while: it is what is exported.
  assert.equal((await saved("CSV")).content.toString().trim().split("\n").length, 301);
  await forgetOldVersions();
  await exportAs("JSON");
  await result().locator(".lineage.error").getByText("have changed since").waitFor();
  refusal(409);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Use today's data" }).click()]);
  assert.deepEqual(JSON.parse(await readFile(await download.path())), [{ id: 1, units: 5 }]);
  await result().locator(".lineage").getByText("These are not the data of the answer").waitFor();
  await rm(join(folder, "shop", "stock.csv"));
});

test("broken and refused files say why, the rest works, and a taken name can be replaced", async () => {
  await choose("broken");
  await openData();
  const broken = dataset("broken");
  await broken.locator(".problems b").getByText("bad.parquet").waitFor();
  assert.match(await broken.locator(".problems").innerText(), /bad\.parquet \S+/);
  assert.match(await broken.innerText(), /good\s+2/);
  await drop("worse.xlsx", "this is not Excel");
  await upload("worse.xlsx").getByText("It cannot be read:").waitFor();
  await broken.locator(".problems b").getByText("worse.xlsx").waitFor();
  await pick("More about broken", "Delete worse.xlsx");
  await confirm();
  await broken.locator(".problems b").getByText("worse.xlsx").waitFor({ state: "detached" });

  await choose("many");
  await drop("tool.exe", "MZ");
  await upload("tool.exe").getByText("is no file of data").waitFor();
  refusal(400);
  await drop("lines.csv", "id\n1\n2\n");
  await upload("lines.csv").getByText("There is a file of this name already.").waitFor();
  refusal(409);
  await upload("lines.csv").getByText("Replace it").click();
  await upload("lines.csv").getByText("2 rows, 1 columns in lines").waitFor();
  await dataset("many").locator("li", { hasText: "lines" }).getByText("2", { exact: true }).waitFor();
});

test("names of files and columns are text, however hostile", async () => {
  const evil = "<img src=x onerror=document.title=1>";
  await choose("shop");
  await drop("x'><script>alert(1)</script>.csv", `"${evil}","=cmd|' /C calc'!A0"\n"<b>bold</b>",2\n`);
  await upload("script").and(page.locator("[data-status=ready]")).waitFor();
  await dataset("shop").locator("li a", { hasText: "script" }).click();
  await page.locator(".profiles").getByText(evil).waitFor();
  await page.getByRole("tab", { name: "Rows" }).click();
  await page.locator("#panel-rows tbody").getByText("<b>bold</b>").waitFor();
  await choose("shop");
  assert.equal(await page.locator(".main img, .main script, .main td b").count(), 0);
  assert.equal(await page.title(), "Interlock");
  await openData();
  await dataset("shop").locator("li a", { hasText: "script" }).click();
  await page.getByRole("button", { name: /^Delete .*script/ }).click();
  await confirm();
  await dataset("shop").locator("li", { hasText: "script" }).waitFor({ state: "detached" });
});

test("a table is looked into: profile, rows, conditions", async () => {
  await openTable("shop", "customers");
  assert.match(await page.locator('.profiles tr[aria-label="city"]').innerText(), /Bern[\s\S]*\b2\b[\s\S]*Bern 2/);
  await page.getByRole("tab", { name: "Rows" }).click();
  const box = page.locator("#panel-rows");
  await box.getByText("Add a condition").click();
  await box.getByLabel("Column").selectOption("city");
  await box.getByLabel("Value").fill("Basel");
  await box.getByText("Show", { exact: true }).click();
  await box.getByText("1 row", { exact: true }).waitFor();
  await box.getByLabel("Condition", { exact: true }).selectOption("gt");
  await box.getByLabel("Column").selectOption("id");
  await box.getByLabel("Value").fill("many");
  await box.getByText("Show", { exact: true }).click();
  await page.locator(".split [role=alert]").waitFor();
  refusal(422);
  await phone();
  assert.equal(await overflow(page), 0, "a table on a phone");
  await openData();
  assert.equal(await overflow(page), 0, "the datasets on a phone");
});

test("what changes on disk is shown, and nothing is drawn otherwise", async () => {
  await openData();
  await dataset("shop").waitFor();
  await page.evaluate(() => {
    globalThis.drawn = 0;
    new MutationObserver(() => { globalThis.drawn++; }).observe(document.querySelector(".tree"), { childList: true, subtree: true });
  });
  const looked = () => page.waitForResponse((r) => r.url().endsWith("/api/datasets"));
  await looked();
  await looked();
  assert.equal(await page.evaluate(() => globalThis.drawn), 0);
  await writeFile(join(folder, "shop", "late.csv"), "id\n1\n");
  await dataset("shop").getByText("late", { exact: true }).waitFor();
  await rm(join(folder, "shop", "late.csv"));
  await dataset("shop").getByText("late", { exact: true }).waitFor({ state: "detached" });
});

test("databases that cannot be connected are refused with what to do, and a password is gone from the page", async () => {
  await openData();
  await page.getByRole("button", { name: "Connect a database" }).click();
  await page.getByLabel("Address").fill("postgres://ann@127.0.0.1:1/shop");
  await page.getByLabel("Password").fill("p@ss/word#1");
  const connect = () => page.getByRole("button", { name: "Connect", exact: true }).click();
  const [sent] = await Promise.all([page.waitForRequest(url + "/api/sources"), connect()]);
  assert.equal(sent.postDataJSON().url, "postgres://ann:p%40ss%2Fword%231@127.0.0.1:1/shop");
  const refused = page.locator(".connect [role=alert]");
  await refused.waitFor();
  assert.equal(await page.getByLabel("Password").inputValue(), "");
  assert.doesNotMatch(await page.locator("body").innerText(), /p@ss|p%40ss/);
  refusal((await sent.response()).status());

  await page.getByLabel("Address").fill("sqlite:" + join(folder, "..", "elsewhere.sqlite"));
  await connect();
  await refused.getByText(/must lie in a data folder\. Put the file into a data folder, or .*--source-folders/).waitFor();
  refusal(403);
});

for (const there of [false, true]) {
  test(`a database is connected, asked, exported and removed, ${there ? "queried where it is" : "as a copy"}`, async () => {
    await openData();
    await page.getByRole("button", { name: "Connect a database" }).click();
    await page.getByLabel("Address").fill("sqlite:" + process.env.SQLITE);
    await page.locator(".connect").getByLabel("Name").fill("stock");
    await page.getByLabel("Query it where it is").setChecked(there);
    await page.getByRole("button", { name: "Connect", exact: true }).click();
    await dataset("stock").getByText("Read its tables").click();
    await dataset("stock").getByText("parts", { exact: true }).waitFor();
    assert.match(await page.locator(".list tbody tr", { hasText: "parts" }).innerText(), /parts\s+3\s+3/);
    assert.equal(/queried where it is/.test(await page.locator(".split .page").innerText()), there);
    await question("SQL: SELECT part_id, name FROM parts ORDER BY price DESC");
    assert.match(await result().locator("tbody tr").first().innerText(), /3\s+gear/);
    assert.equal((await saved("CSV")).content.toString(), "part_id,name\n3,gear\n1,bolt\n2,nut\n");
    await openData();
    await pick("More about stock", "Remove this source");
    await confirm();
    await dataset("stock").waitFor({ state: "detached" });
  });
}

test("long numbers keep every digit, and types say how a column is written", async () => {
  await choose("any data");
  await drop("big.csv", "units,day\n9007199254740995,2024-01-05\n9007199254740993,2024-02-01\n-7,2024-03-01\n");
  await upload("big.csv").and(page.locator("[data-status=ready]")).waitFor();
  await question("SQL: SELECT units, CAST('-12345678901234567890123456.012345678901' AS DECIMAL(38,12)) AS amount, day FROM big ORDER BY day");
  if (await result().getByRole("button", { name: "Table", exact: true }).count()) await result().getByRole("button", { name: "Table", exact: true }).click();
  const rows = result().locator("tbody tr"), texts = () => rows.evaluateAll((all) => all.map((r) => [...r.cells].map((c) => c.textContent)));
  const amount = "−12,345,678,901,234,567,890,123,456.012345678901";
  const [first, second, third] = [["9,007,199,254,740,995", amount, "5 Jan 2024"], ["9,007,199,254,740,993", amount, "1 Feb 2024"], ["−7", amount, "1 Mar 2024"]];
  assert.deepEqual(await texts(), [first, second, third]);
  assert.deepEqual(await rows.first().evaluate((r) => [...r.cells].map((c) => c.classList.contains("number"))), [true, true, false]);
  await result().locator("thead").getByText("units").click();
  await result().locator("th[aria-sort=ascending]").waitFor();
  await rows.first().getByText("−7", { exact: true }).waitFor();
  assert.deepEqual(await texts(), [third, second, first]);

  await openTable("uploads", "big");
  await page.getByRole("tab", { name: "Rows" }).click();
  await page.locator("#panel-rows tbody").getByText("9,007,199,254,740,995").waitFor();
  await page.getByRole("button", { name: "Delete big.csv" }).click();
  await confirm();
  await dataset("uploads").waitFor({ state: "detached" });
});

test("what Python prints and draws is on the page, and files stay those of their turn", async () => {
  await choose("shop");
  await visit("#/settings");
  await page.getByRole("spinbutton", { name: "Seconds a Python run may take" }).fill("120");
  await page.getByRole("spinbutton", { name: "Seconds a Python run may take" }).press("Tab");
  const code = "import time\nprint('five orders')\nplt.plot([1, 3, 2])\nopen('when.txt', 'w').write(str(time.time_ns()))";
  await question("PYTHON: " + code);
  assert.match(await turn().locator(".printed").innerText(), /five orders/);
  const picture = turn().locator("img.picture").first();
  await page.waitForFunction((img) => img.complete && img.naturalWidth > 0, await picture.elementHandle());
  await ask(page, "PYTHON: " + code);
  await ended(page, "answered", 2);
  const times = [];
  for (const number of [0, 1]) {
    const link = page.locator(".turn").nth(number).getByRole("link", { name: "when.txt" }).first();
    const [download] = await Promise.all([page.waitForEvent("download"), link.click()]);
    times.push(BigInt((await readFile(await download.path())).toString()));
  }
  assert.ok(times[0] < times[1], `the first turn gives ${times[0]}, the second ${times[1]}`);
  await ask(page, "PYTHON: print('as far as here')\n1/0");
  await ended(page, "failed", 3);
  assert.match(await turn().locator(".printed").first().innerText(), /as far as here/);
  // What it has printed so far is there after the page was loaded again, once.
  await ask(page, "PYTHON: print('the first line')\nwhile True: pass");
  await turn().locator(".printed").getByText("the first line").waitFor();
  await reload();
  await turn().locator(".printed").getByText("the first line").waitFor();
  assert.equal((await turn().locator(".printed pre").innerText()).trim(), "the first line");
  await page.getByRole("button", { name: "Stop Esc" }).click();
  await ended(page, "stopped", 4);
});

test("machines that can do all of their work say nothing in the picker", async () => {
  await page.getByRole("button", { name: /^Machine:/ }).click();
  const names = await page.getByRole("menuitemradio").allInnerTexts();
  for (const name of ["assistant", "analyst"]) assert.ok(names.some((n) => n.startsWith(name) && !/not complete/.test(n)), `${name} in ${names}`);
  await page.getByRole("menuitemradio", { name: /^assistant/ }).click();
  assert.equal(await page.getByText("This machine is not complete").count(), 0);
});

test("documents are added, found, cited at their place and removed; the preview follows the settings", async () => {
  const sent = (file) => page.getByRole("list", { name: "Documents on their way" }).locator("li", { hasText: file });
  await visit("#/documents");
  await page.getByText("No documents yet").waitFor();
  const policy = "# Policy\n\n## Parking\n\nVisitors park behind the building.\n\n## Returns\n\nCustomers may return goods within 30 days after the <b>delivery</b>.\n";
  await page.getByLabel("Documents to add").setInputFiles([{ name: "policy.md", mimeType: "text/markdown", buffer: Buffer.from(policy) }, { name: "broken.pdf", mimeType: "application/pdf", buffer: Buffer.from("no PDF") }]);
  await sent("policy.md").and(page.locator("[data-status=ready]")).waitFor();
  await sent("broken.pdf").and(page.locator("[data-status=refused]")).waitFor();
  await page.getByRole("row", { name: "policy.md" }).getByText("ready").waitFor();
  assert.match(await page.getByRole("row", { name: "broken.pdf" }).innerText(), /cannot be read/i);
  await drop("policy.md", policy.replace("30 days", "60 days"));
  await sent("policy.md").last().getByRole("button", { name: "Replace it" }).click();
  refusal(409);
  await sent("policy.md").last().and(page.locator("[data-status=ready]")).waitFor();

  await page.getByLabel("Search the documents").fill("Within how many days may customers return goods?");
  await page.locator(".passage").first().getByText("60 days").waitFor();
  await page.locator(".passage").first().click();
  assert.match(await page.locator("mark").innerText(), /within 60 days after the <b>delivery<\/b>/);

  await visit("#/ask");
  await page.getByRole("button", { name: /^Machine:/ }).click();
  await page.getByRole("menuitemradio", { name: /^assistant/ }).click();
  await question("Within how many days may customers return goods?");
  await turn().getByRole("group", { name: "Sources" }).getByRole("link", { name: "policy.md, Returns" }).click();
  assert.match(await page.locator("mark").innerText(), /60 days/);

  await visit("#/settings");
  const preview = page.getByRole("region", { name: "Preview" });
  const states = preview.getByRole("group", { name: "States" });
  await preview.getByLabel("Question to try").fill("What may a customer do?");
  await preview.getByText("It would begin in Rag retrieval").waitFor();
  assert.match(await preview.locator("pre").innerText(), /60 days/);
  // Each move of a slider is previewed; how a passage without a vector is judged is not the page's to say.
  const previewed = page.waitForResponse((r) => decodeURIComponent(r.url()).includes('"rag_chunk_min":1'));
  await page.getByRole("slider", { name: "Excerpts from this relevancy on" }).fill("1");
  assert.equal((await previewed).status(), 200);
  await page.getByRole("switch", { name: "Documents" }).click();
  await states.getByText("rag retrieval").waitFor({ state: "detached" });
  await page.getByRole("button", { name: "Back to defaults" }).click();

  await phone();
  await visit("#/documents");
  await page.getByRole("row", { name: "policy.md" }).waitFor();
  assert.equal(await overflow(page), 0);
  await page.getByRole("button", { name: "Remove policy.md" }).click();
  await confirm();
  await page.getByRole("row", { name: "policy.md" }).waitFor({ state: "detached" });
});
