// Data, documents, names and artifacts of somebody else are shown and never obeyed.

import assert from "node:assert/strict";
import { test } from "node:test";
import { blocked, choose, chooseMachine, page, question, url, visit } from "./browser.js";
import { hostileChart, hostileHTML, hostileSVG, nothingRan, tricks } from "./corpus.js";

const quoted = (text) => `"${text.replaceAll('"', '""').replaceAll("\u0000", "")}"`;

test("cells, column names, file names, charts and thread names are text", async () => {
  await choose("any data");
  const csv = [[quoted(tricks[1]), quoted(tricks[0]), "n"].join(","), ...tricks.map((t, i) => [quoted(t), quoted(tricks[(i + 1) % tricks.length]), i * 3].join(","))].join("\n");
  const name = "x'><img src=x onerror=top.hacked=1>.csv";
  await page.getByLabel("Files to add").setInputFiles([{ name, mimeType: "text/csv", buffer: Buffer.from(csv) }]);
  await page.locator(".uploads li", { hasText: "onerror" }).and(page.locator("[data-status=ready]")).waitFor();
  await nothingRan("an upload");
  const { datasets } = await (await page.request.get(url + "/api/datasets")).json();
  const table = datasets.find((d) => d.id === "uploads").tables.find((t) => t.file?.includes("onerror") || t.table_name.includes("onerror")).table_name;
  await visit("#/data/uploads/" + encodeURIComponent(table));
  await page.locator(".profiles tbody tr").first().waitFor();
  await nothingRan("profiles");
  await page.getByRole("tab", { name: "Rows" }).click();
  await page.locator("#panel-rows tbody tr").first().waitFor();
  await nothingRan("rows");

  // The statement is the title of its thread; the chart's labels are the tricks.
  await chooseMachine("analyst");
  await choose("uploads");
  await question(`SQL: SELECT ${quoted(tricks[1])} AS ${quoted(tricks[2])}, n FROM "${table.replaceAll('"', '""')}" /* ${tricks[0]} ${tricks[9]} */`);
  await page.locator(".turn .chart svg").first().waitFor();
  await page.locator(".thread a[aria-current]", { hasText: "SELECT" }).waitFor();
  await nothingRan("a chart of tricks");
  const thread = await page.evaluate(() => location.hash.split("/")[2]);
  await page.request.patch(`${url}/api/threads/${thread}`, { data: { title: tricks[1] } });
  await page.keyboard.press("Control+k");
  await page.getByRole("combobox", { name: "Search or do" }).fill("onerror");
  await page.locator("dialog.palette li", { hasText: "onerror" }).first().waitFor();
  await nothingRan("the palette");
  await page.keyboard.press("Escape");
});

test("documents and their places are text", async () => {
  await visit("#/documents");
  const text = "# Returns " + tricks[1] + "\n\nCustomers may return goods within 30 days.\n\n" + tricks.join("\n\n").replaceAll("\u0000", "");
  await page.getByLabel("Documents to add").setInputFiles([{ name: "<img src=x onerror=top.hacked=1>.md", mimeType: "text/markdown", buffer: Buffer.from(text) }]);
  await page.getByRole("list", { name: "Documents on their way" }).locator("li", { hasText: "onerror" }).and(page.locator("[data-status=ready]")).waitFor();
  await page.getByLabel("Search the documents").fill("return goods within how many days");
  await page.locator(".passage").first().click();
  await page.locator("mark").waitFor();
  await nothingRan("a passage");
  await visit("#/ask");
  await chooseMachine("assistant");
  await question("Within how many days may customers return goods?");
  await nothingRan("a citation");
  await visit("#/documents");
  await page.getByRole("button", { name: /^Remove .*onerror/ }).click();
  await page.locator("dialog[open] button.danger").click();
});

test("reports, pictures, charts and notes of somebody else are shown on an island", async () => {
  await chooseMachine("analyst");
  await choose("shop");
  const files = { "report.html": hostileHTML, "drawn.txt": hostileSVG, "evil.vl.json": hostileChart, "note.md": tricks.join("\n\n"), "img src=x onerror=hacked.txt": tricks.join("\n") };
  const code = Object.entries(files).map(([name, text]) => `open(${JSON.stringify(name)}, 'w').write(${JSON.stringify(text.replaceAll("\u0000", ""))})`).join("\n");
  await question("PYTHON: " + code);
  await nothingRan("the turn that made them");
  // Python hands over no SVG, so the server is made to say that this text is one.
  await page.route("**/api/artifacts?**", async (asked) => {
    const response = await asked.fetch(), json = await response.json();
    for (const a of json.artifacts.filter((a) => a.name === "drawn.txt")) Object.assign(a, { name: "drawn.svg", type: "svg", mime: "image/svg+xml" });
    await asked.fulfill({ response, json });
  });
  await page.getByRole("link", { name: /artifacts$/ }).click();
  for (const [file, shown] of [["report.html", "iframe"], ["drawn.svg", "img"], ["evil.vl.json", "pre"], ["note.md", ".markdown"], ["onerror=hacked.txt", "pre"]]) {
    await page.locator(".gallery a", { hasText: file }).click();
    await page.locator(`section.shown ${shown}`).first().waitFor();
    if (shown === "iframe") {
      await page.frameLocator("section.shown iframe").getByRole("heading", { name: "A report" }).waitFor();
      const frame = await (await page.locator("section.shown iframe").elementHandle()).contentFrame();
      assert.equal(await frame.evaluate(() => document.querySelectorAll("script:not(:first-of-type), iframe, object, form, meta, base, [onerror], [onload]").length), 0);
      assert.equal(frame.url(), url + "/frame");
    }
    await nothingRan(file);
  }
  blocked();
  await page.unroute("**/api/artifacts?**");
  const answer = await page.request.get(url + "/");
  const policy = answer.headers()["content-security-policy"];
  assert.match(policy, /default-src 'none'; script-src 'self'; style-src 'self'/);
  assert.doesNotMatch(policy, /unsafe|\*|https?:/);
});
