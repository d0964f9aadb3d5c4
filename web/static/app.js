// The page: picks a machine and a dataset, sends what is said, and draws the log.

import { follow, get, onUnauthorized, post, Problem } from "./api.js";
import { fieldForm } from "./card.js";
import { connectForm } from "./connect.js";
import { DataPanel } from "./data.js";
import { byId, el, fill, sentence, words } from "./dom.js";
import { Panel } from "./settings.js";
import { ThreadLog } from "./thread.js";
import { Uploads } from "./upload.js";

const page = {
  thread: "", log: null, machine: null, stopFollowing: null, dataset: localStorage.getItem("dataset") ?? "",
  panel: new Panel(byId("switches")),
  data: new DataPanel(byId("datasets"), { chosen: () => byId("dataset").value, choose: chooseDataset, changed: listDatasets, sure }),
};
const uploads = new Uploads(byId("uploads"), { panel: page.data, choose: chooseDataset });

onUnauthorized((failed) => new Promise((done) => {
  const dialog = byId("login");
  byId("loginerror").textContent = failed;
  byId("token").value = "";
  dialog.onclose = () => done(byId("token").value);
  dialog.showModal();
}));

async function begin() {
  applyTheme(localStorage.getItem("theme"));
  const [{ machines }, { role }] = await Promise.all([get("/api/machines"), get("/api/me")]);
  const adds = role !== "viewer";
  page.data.role = role;
  byId("connect").hidden = role !== "admin";
  byId("addfiles").hidden = byId("whereto").hidden = !adds;
  if (adds) uploads.acceptDrops(byId("veil"));
  await page.data.look();
  const wanted = localStorage.getItem("machine");
  fill(byId("machine"), machines.map((m) => el("option", { value: m.name, title: [m.title, ...(m.unready ?? []).map((f) => f.message)].join(" · "), selected: wanted ? m.name === wanted : Boolean(m.default) }, words(m.name) + (m.unready ? " (not complete)" : ""))));
  showAside(localStorage.getItem("aside") ?? (innerWidth >= 1500 ? "data" : ""));
  await Promise.all([listThreads(), open(location.hash.slice(1))]);
}

// open shows a thread, or an empty page for "".
async function open(id) {
  page.stopFollowing?.abort();
  page.thread = id;
  if (location.hash.slice(1) !== id) history.pushState(null, "", id ? "#" + id : location.pathname);
  const log = byId("log");
  fill(log);
  page.log = new ThreadLog(log, { answer: (card_response) => say({ card_response }), changed: refreshSoon });
  showSide(false);
  if (innerWidth <= 820) showAside("");
  if (!id) {
    byId("title").textContent = "";
    byId("machine").disabled = false;
    await pickMachine();
    fill(log, welcome());
    draw(null);
    return;
  }
  const stop = page.stopFollowing = new AbortController();
  const drawn = page.log;
  follow(`/api/threads/${encodeURIComponent(id)}/events`, stop.signal, {
    event: (kind, event) => { offline(false); if (kind === "error") tell(event.message); else drawn.apply(kind, event); },
    again: () => drawn.again(),
    cut: () => offline(true),
  }).catch(tell);
  await refresh(true);
}

function welcome() {
  const { datasets } = page.data, dataset = page.data.find(byId("dataset").value);
  return el("section.welcome", el("h2", "Ask about your data"),
    el("p", "Every step the model takes is governed by a declared machine, stored before you see it, and can be checked afterwards."),
    el(".choices", datasets.slice(0, 8).map((d) => el("button" + (d === dataset ? ".here" : ""), {
      type: "button", "aria-pressed": String(d === dataset), onclick: () => chooseDataset(d === dataset ? "" : d.id),
    }, el("b", d.name || d.id), el("span.quiet", (d.tables ?? []).slice(0, 4).map((t) => t.table_name).join(", ") + (d.tables?.length > 4 ? " …" : "")))),
    page.data.role !== "viewer" && el("button.add", { type: "button", onclick: () => byId("files").click() }, el("b", "+ Add files"), el("span.quiet", "or drop them anywhere"))),
    dataset?.description && el("p.quiet", dataset.description),
    el(".prompts", prompts(dataset ?? datasets[0]).map((p) => el("button", { type: "button", onclick: () => say({ message: p }) }, p))));
}

// prompts are questions to begin with: those of the dataset, or the plainest ones.
function prompts(dataset) {
  if (dataset?.prompts?.length) return dataset.prompts;
  return (dataset?.tables ?? []).filter((t) => t.columns).slice(0, 2).map((t) => `SQL: SELECT * FROM "${t.table_name.replaceAll('"', '""')}"`);
}

// listDatasets keeps the picker and the welcome in step with the data.
function listDatasets(datasets) {
  fill(byId("dataset"), el("option", { value: "" }, "any"),
    datasets.map((d) => el("option", { value: d.id, title: d.description ?? null, selected: d.id === page.dataset }, d.name || d.id)));
  datasetChosen();
}

function chooseDataset(id) {
  localStorage.setItem("dataset", id);
  pickDataset(id);
}

function pickDataset(id) {
  page.dataset = id;
  byId("dataset").value = page.data.find(id) ? id : "";
  datasetChosen();
}

function datasetChosen() {
  byId("whereto").textContent = `Drop files anywhere on the page; they go to ${uploads.target()}.`;
  page.data.draw();
  if (!page.thread && byId("log").querySelector(".welcome")) fill(byId("log"), welcome());
}

// sure asks before something is removed.
function sure(question) {
  return new Promise((done) => {
    const dialog = byId("sure");
    byId("surehead").textContent = question;
    dialog.returnValue = "";
    dialog.onclose = () => done(dialog.returnValue === "yes");
    dialog.showModal();
  });
}

// showAside opens one of the panels at the side, or none.
function showAside(name) {
  for (const [button, id] of [["tune", "settings"], ["showdata", "data"]]) {
    byId(id).hidden = id !== name;
    byId(button).setAttribute("aria-expanded", String(id === name));
  }
  document.body.classList.toggle("showaside", Boolean(name));
  page.data.show(name === "data");
  if (innerWidth > 820) localStorage.setItem("aside", name);
}

uploads.dropped = (files) => { showAside("data"); byId("data").scrollTop = 0; uploads.add(files); };

let due = 0;
function refreshSoon(ended) {
  drawRunning();
  clearTimeout(due);
  due = setTimeout(() => { refresh().catch(tell); if (ended) listThreads().catch(tell); }, 60);
}

// refresh reads how the thread stands: state, commands, settings.
async function refresh(first) {
  const id = page.thread;
  if (!id) return;
  const view = await get("/api/threads/" + encodeURIComponent(id));
  if (id !== page.thread) return;
  if (first || page.machine?.name !== view.machine) {
    byId("machine").value = view.machine;
    byId("machine").disabled = true;
    pickDataset(view.dataset ?? "");
    await pickMachine(view.settings);
  }
  byId("title").textContent = view.title || "";
  draw(view);
}

async function pickMachine(current) {
  const name = byId("machine").value;
  page.machine = await get("/api/machines/" + encodeURIComponent(name));
  page.panel.draw(page.machine.settings, current);
  byId("unready").textContent = (page.machine.unready ?? []).map((f) => `This machine is not complete: ${sentence(f.message)} ${f.suggestion ?? ""}`).join(" ");
  const { svg } = page.machine.graph;
  byId("showgraph").hidden = !svg;
  URL.revokeObjectURL(byId("graph").src);
  if (svg) byId("graph").src = URL.createObjectURL(new Blob([svg], { type: "image/svg+xml" }));
}

// draw shows the state line and the commands.
function draw(view) {
  drawRunning();
  const line = byId("states"), here = view?.state;
  const seen = new Set(page.log.path.flatMap((m) => [m.from, m.to]));
  line.hidden = !view;
  fill(line, el("ol", (page.machine?.states ?? []).map((s) => el("li" + (s.name === here ? ".here" : seen.has(s.name) ? ".seen" : ""), {
    title: [s.kind, s.requires.length && "needs " + s.requires.join(", "), s.tools.length && "tools: " + s.tools.join(", ")].filter(Boolean).join("\n"),
    "aria-current": s.name === here ? "step" : null,
  }, words(s.name)))),
  view && el("p.quiet", view.offered.length ? "Offered: " + view.offered.map(words).join(", ") : "",
    view.denied.length ? el("span", { title: view.denied.map((d) => `${d.tool}: ${d.code}${d.when ? " unless " + d.when : ""}`).join("\n") },
      ` · Locked: ${view.denied.map((d) => words(d.tool)).join(", ")}`) : ""));
  const lit = line.querySelector(".here");
  if (lit) lit.parentNode.scrollLeft = lit.offsetLeft - lit.parentNode.offsetLeft - 80;
  const form = el("form.fields", { hidden: true });
  fill(byId("commands"), (view?.commands ?? []).map((c) => el("button", {
    type: "button", disabled: !c.allowed, title: c.why ?? null,
    onclick: () => {
      const fields = Object.entries(c.fields ?? {});
      if (fields.length) fieldForm(form, fields, c.label, (values) => say({ command: { name: c.name, fields: values } }));
      else say({ command: { name: c.name } });
    },
  }, c.label || words(c.name))), form);
}

function drawRunning() {
  const running = Boolean(page.log?.running);
  byId("stop").hidden = !running;
  byId("send").hidden = running;
  document.body.classList.toggle("running", running);
  const card = page.log?.openCard();
  if (!document.body.classList.contains("offline")) byId("status").textContent = running ? "working…" : card ? "waiting for your answer" : "";
}

// say sends a message, a card's answer or a command; the log then tells what happens.
async function say(what) {
  if (!page.thread) fill(byId("log"));
  byId("status").textContent = "sending…";
  try {
    const { thread_id: thread } = await (await post("/api/turns", {
      ...what, thread_id: page.thread || undefined, dataset_id: byId("dataset").value || undefined,
      machine: page.thread ? undefined : byId("machine").value, settings: page.panel.take(),
    })).json();
    if (thread !== page.thread) {
      await open(thread);
      await listThreads();
    }
    return true;
  } catch (problem) {
    byId("status").textContent = "";
    if (what.card_response) throw problem;
    tell(problem);
    return false;
  }
}

async function listThreads() {
  const { threads } = await get("/api/threads?limit=100");
  fill(byId("threads"), threads.map((t) => el("li", el("a" + (t.id === page.thread ? ".here" : ""), {
    href: "#" + t.id, "aria-current": t.id === page.thread ? "page" : null,
  }, el("span", t.title || "Untitled"), el("small", `${words(t.machine)} · ${t.status} · ${when(t.updated_at)}`)))));
}

// when writes a time of today as a time and another as a date.
function when(text) {
  const at = new Date(text), today = at.toDateString() === new Date().toDateString();
  return today ? at.toLocaleTimeString(undefined, { timeStyle: "short" }) : at.toLocaleDateString(undefined, { dateStyle: "medium" });
}

function tell(problem) {
  const text = problem instanceof Problem ? problem.message : String(problem.message ?? problem);
  byId("log").append(el("p.error", { role: "alert" }, text, problem.suggestion && el("span.quiet", " " + problem.suggestion)));
}

function offline(is) {
  document.body.classList.toggle("offline", is);
  if (is) byId("status").textContent = "connection lost; trying again…";
  else if (byId("status").textContent.startsWith("connection")) drawRunning();
}

function applyTheme(theme) {
  if (theme) document.documentElement.dataset.theme = theme;
}

function showSide(open) {
  document.body.classList.toggle("showside", open);
  byId("menu").setAttribute("aria-expanded", String(open));
}

async function submit(e) {
  e?.preventDefault();
  const text = byId("say").value.trim();
  if (!text || page.log?.running) return;
  byId("say").value = "";
  if (!await say({ message: text })) byId("say").value = text;
}

byId("composer").addEventListener("submit", submit);
byId("say").addEventListener("keydown", (e) => { if (e.key === "Enter" && !e.shiftKey && !e.isComposing) submit(e); });
byId("stop").addEventListener("click", () => post(`/api/threads/${encodeURIComponent(page.thread)}/stop`).catch(tell));
byId("fresh").addEventListener("click", () => open("").then(listThreads).then(() => byId("say").focus()).catch(tell));
byId("menu").addEventListener("click", () => showSide(!document.body.classList.contains("showside")));
byId("machine").addEventListener("change", () => { localStorage.setItem("machine", byId("machine").value); pickMachine().catch(tell); });
byId("dataset").addEventListener("change", () => chooseDataset(byId("dataset").value));
byId("tune").addEventListener("click", () => showAside(byId("settings").hidden ? "settings" : ""));
byId("showdata").addEventListener("click", () => showAside(byId("data").hidden ? "data" : ""));
byId("addfiles").addEventListener("click", () => byId("files").click());
byId("files").addEventListener("change", (e) => { uploads.dropped([...e.target.files]); e.target.value = ""; });
byId("connect").addEventListener("click", () => {
  const box = byId("connectbox");
  box.hidden = !box.hidden;
  byId("connect").setAttribute("aria-expanded", String(!box.hidden));
  if (!box.hidden) box.querySelector("input").focus();
});
byId("connectbox").append(connectForm(async (added) => {
  byId("connectbox").hidden = true;
  await page.data.look();
  chooseDataset(added.alias);
}));
byId("showgraph").addEventListener("click", () => byId("graphbox").showModal());
byId("theme").addEventListener("click", () => {
  const dark = document.documentElement.dataset.theme ? document.documentElement.dataset.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
  localStorage.setItem("theme", dark ? "light" : "dark");
  applyTheme(dark ? "light" : "dark");
});
addEventListener("hashchange", () => { if (location.hash.slice(1) !== page.thread) open(location.hash.slice(1)).then(listThreads).catch(tell); });
addEventListener("popstate", () => { if (location.hash.slice(1) !== page.thread) open(location.hash.slice(1)).then(listThreads).catch(tell); });
addEventListener("keydown", (e) => {
  if (e.ctrlKey || e.metaKey || e.altKey || /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName)) return;
  if (e.key === "/") { e.preventDefault(); byId("say").focus(); return; }
  if (page.log?.openCard()?.key(e.key)) e.preventDefault();
});

begin().catch(tell);
