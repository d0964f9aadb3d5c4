// The datasets as they are now: the page looks often, and draws what changed.

import { get, Problem, request } from "../api/client";
import type { Dataset, FileProblem } from "../api/data";

const watched = 1500; // milliseconds between looks while data are shown
const unwatched = 15_000;

/** A Reading is an import of one version of a dataset: under way, or why it failed. */
interface Reading {
  done: Promise<void>;
  why?: Problem;
}

/** unread says whether columns are not known yet. */
export const unread = (d: Dataset) => (d.tables ?? []).some((t) => !t.columns) || (d.kind !== "files" && !d.tables?.length);

class Datasets {
  list = $state.raw<Dataset[]>([]);
  trouble = $state("");
  /** The server has said which datasets there are. */
  known = $state(false);
  /** The id that a person chose: "" is any dataset, null is no choice yet. */
  chosen = $state(localStorage.getItem("dataset"));
  #tag = "";
  #due = 0;
  #watchers = 0;
  #readings = $state.raw(new Map<string, Reading>());

  find(id: string) {
    return this.list.find((d) => d.id === id);
  }

  /** current is the dataset that is asked next: the chosen one, the first before any choice, none for any. */
  get current(): Dataset | undefined {
    return this.chosen === null ? this.list[0] : this.find(this.chosen);
  }

  choose(id: string) {
    this.chosen = id;
    localStorage.setItem("dataset", id);
  }

  /** watch looks often until the returned function is called. */
  watch() {
    this.#watchers++;
    void this.look();
    return () => {
      this.#watchers--;
    };
  }

  /** look reads the list and draws it if it changed; it looks again by itself. */
  async look(): Promise<void> {
    clearTimeout(this.#due);
    this.#due = window.setTimeout(() => {
      if (!document.hidden) void this.look();
    }, this.#watchers ? watched : unwatched);
    try {
      const response = await request("/api/datasets"); // the browser asks with the tag it has
      const tag = response.headers.get("ETag") ?? "";
      this.known = true;
      const { datasets } = (await response.json()) as { datasets: Dataset[] };
      if (tag === this.#tag && !this.trouble) return;
      this.#tag = tag;
      this.list = datasets;
      this.trouble = "";
      for (const d of datasets) if (d.kind === "files" && unread(d)) void this.read(d);
    } catch (problem) {
      this.trouble = (problem as Error).message;
    }
  }

  reading(d: Dataset): Reading | undefined {
    return this.#readings.get(keyOf(d));
  }

  /** read has the server import a dataset, once a version; its columns and problems are known then. */
  read(d: Dataset): Promise<void> {
    const known = this.#readings.get(keyOf(d));
    if (known) return known.done;
    const reading: Reading = { done: Promise.resolve() };
    reading.done = get("/datasets/{id}/schema", { id: d.id }).then(
      () => {
        this.#note(d, undefined);
        return this.look();
      },
      (problem: Problem) => this.#note(d, !(problem instanceof Problem) || problem.status >= 500 || !problem.status ? undefined : { done: reading.done, why: problem }),
    );
    this.#note(d, reading);
    return reading.done;
  }

  #note(d: Dataset, reading: Reading | undefined) {
    const next = new Map(this.#readings);
    if (reading) next.set(keyOf(d), reading);
    else next.delete(keyOf(d));
    this.#readings = next;
  }

  /** problems are those of the files, and why the dataset could not be read. */
  problems(d: Dataset): FileProblem[] {
    const told = d.problems ?? [];
    const why = this.reading(d)?.why;
    const found = Array.isArray(why?.details) ? (why.details as FileProblem[]) : why ? [{ path: "", message: why.message }] : [];
    return [...told, ...found.filter((p) => !told.some((q) => q.path === p.path))];
  }
}

const keyOf = (d: Dataset) => d.id + " " + d.version_hash;

export const datasets = new Datasets();

document.addEventListener("visibilitychange", () => {
  if (!document.hidden) void datasets.look();
});
