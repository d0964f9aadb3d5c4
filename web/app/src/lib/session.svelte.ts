// What the whole page shares: who calls, the machines, the threads, the open view.

import { get, post, Problem } from "../api/client";
import type { MachineLine, MachineView, Saying, Thread, Whoami } from "../api/schema";
import { datasets } from "./datasets.svelte";

/** The views of the page. A thread is the view "ask" with an id. */
export const views = ["ask", "reconcile", "data", "documents", "artifacts", "runs", "settings"] as const;
export type View = (typeof views)[number];

/** A Place is what the address names: #/data/ecommerce/orders, #/ask/t_12. */
export interface Place {
  view: View;
  rest: string[];
}

function placeOf(hash: string): Place {
  const [, name, ...rest] = hash.replace(/^#/, "").split("/");
  if (hash && !hash.startsWith("#/")) return { view: "ask", rest: [hash.slice(1)] }; // an address of the older page
  const view = views.find((v) => v === name);
  return { view: view ?? "ask", rest: rest.filter(Boolean).map(decoded) };
}

// decoded is a part of an address as it was meant; one that is no encoding stays as it is.
function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export const addressOf = (view: View, ...rest: string[]) => "#/" + [view, ...rest.map(encodeURIComponent)].join("/");

class Session {
  place = $state.raw<Place>(placeOf(location.hash));
  me = $state.raw<Whoami | undefined>();
  machines = $state.raw<MachineLine[]>([]);
  machineName = $state(localStorage.getItem("machine") ?? "");
  threads = $state.raw<Thread[]>([]);
  threadSearch = $state("");
  /** The model in use, as the server names it. */
  model = $state("");
  trouble = $state.raw<Problem | Error | undefined>();
  palette = $state(false);
  keys = $state(false);
  machineOpen = $state(localStorage.getItem("machine-open") === "true");
  theme = $state(localStorage.getItem("theme") ?? "");
  /** Settings that were changed and hold from the next message on. */
  changed = $state<Record<string, unknown>>({});
  /** A question has opened another thread, whose field is to have the focus that the last one had. */
  justAsked = false;
  #views = new Map<string, Promise<MachineView>>();
  #listed = 0;

  get analyst() {
    return this.me?.role !== "viewer";
  }

  get thread() {
    return this.place.view === "ask" ? (this.place.rest[0] ?? "") : "";
  }

  async begin() {
    const [{ machines }, me] = await Promise.all([get("/api/machines"), get("/api/me")]);
    this.machines = machines ?? [];
    this.me = me;
    if (!this.machines.some((m) => m.name === this.machineName)) this.machineName = this.machines.find((m) => m.default)?.name ?? this.machines[0]?.name ?? "";
    void get("/readyz").then((r) => {
      this.model = r.parts?.find((p) => p.name === "model")?.detail ?? "";
    }, () => {});
    await Promise.all([datasets.look(), this.listThreads()]);
  }

  go(view: View, ...rest: string[]) {
    location.hash = addressOf(view, ...rest);
  }

  follow() {
    this.place = placeOf(location.hash);
  }

  /** listThreads reads the list anew; where that fails, the old one stays and the page says why. */
  async listThreads() {
    const mine = ++this.#listed;
    try {
      const { threads } = await get("/api/threads", {}, { limit: 200, q: this.threadSearch || undefined });
      if (mine === this.#listed) this.threads = threads ?? []; // what comes late is not shown
    } catch (problem) {
      if (mine === this.#listed) report(problem);
    }
  }

  /** machine loads a definition, once. */
  machine(name: string): Promise<MachineView> {
    const known = this.#views.get(name) ?? get("/api/machines/{name}", { name });
    this.#views.set(name, known);
    known.catch(() => this.#views.delete(name)); // the next one who asks tries again
    return known;
  }

  chooseMachine(name: string) {
    this.machineName = name;
    this.changed = {};
    localStorage.setItem("machine", name);
  }

  /** say sends a message, a card's answer or a command; the log then tells what happens. */
  async say(what: Partial<Saying>, thread = this.thread): Promise<string> {
    const from = this.place;
    const { thread_id: id } = await post("/api/turns", {}, {
      ...what,
      thread_id: thread || undefined,
      dataset_id: what.dataset_id ?? datasets.current?.id,
      machine: thread ? undefined : this.machineName,
      settings: Object.keys(this.changed).length ? { ...this.changed } : undefined,
    } as Saying);
    this.changed = {};
    if (id !== this.thread) {
      void this.listThreads();
      if (this.place === from) { // else the person has gone elsewhere meanwhile
        this.justAsked = true;
        this.go("ask", id);
      }
    }
    return id;
  }

  setTheme(theme: string) {
    this.theme = theme;
    localStorage.setItem("theme", theme);
    document.documentElement.dataset.theme = theme;
  }

  toggleTheme() {
    const dark = this.theme ? this.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
    this.setTheme(dark ? "light" : "dark");
  }

  toggleMachine() {
    this.machineOpen = !this.machineOpen;
    localStorage.setItem("machine-open", String(this.machineOpen));
  }
}

export const session = new Session();

/** report shows a problem on top of the page. */
export const report = (problem: unknown) => {
  session.trouble = problem instanceof Error ? problem : new Error(String(problem));
};

/** copyText puts a text on the clipboard, and says whether it could: a browser may refuse, and has none where the page is not served safely. */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    report(new Error("The browser lets nothing be copied here. Mark the text and copy it with Ctrl-C."));
    return false;
  }
}
