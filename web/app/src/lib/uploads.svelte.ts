// Files on their way into a dataset: dropped anywhere on the page, or chosen.

import { Problem, upload } from "../api/client";
import { datasets } from "./datasets.svelte";
import { sentence } from "./words";

const fallback = "uploads"; // the dataset of files that the chosen one does not take

/** An Upload is one file on its way, until it can be asked, or why it cannot. */
export class Upload {
  share = $state<number | undefined>(0);
  said = $state("waiting");
  status = $state<"sending" | "ready" | "refused" | "taken">("sending");
  /** The table that came of it, once it can be asked. */
  table = $state("");
  constructor(readonly file: File, readonly dataset: string) {}
}

class Uploads {
  list = $state<Upload[]>([]);
  #last: Promise<void> = Promise.resolve();
  picker: HTMLInputElement | undefined;

  /** target is the dataset that takes the next files. */
  get target(): string {
    const chosen = datasets.find(datasets.chosen ?? "");
    return chosen?.accepts_files ? chosen.id : fallback;
  }

  pick() {
    this.picker?.click();
  }

  /** add sends files one after the other. */
  add(files: Iterable<File>) {
    const dataset = this.target;
    for (const file of files) {
      const one = new Upload(file, dataset);
      this.list.push(one);
      this.#last = this.#last.then(() => this.send(one, false));
    }
  }

  forget(one: Upload) {
    this.list = this.list.filter((u) => u !== one);
  }

  async send(one: Upload, replace: boolean) {
    one.status = "sending";
    try {
      const { files } = await upload(`/api/datasets/${encodeURIComponent(one.dataset)}/files?create=true&replace=${replace}`, one.file, (share) => {
        one.share = share;
        one.said = share < 1 ? `${Math.round(share * 100)} %` : "storing…";
      });
      one.share = undefined;
      one.said = "reading…";
      await this.#arrived(one, files[0].file);
    } catch (problem) {
      const p = problem as Problem;
      one.status = p.code === "conflict" ? "taken" : "refused";
      one.said = p.code === "conflict" ? "There is a file of this name already." : `${sentence(p.message)} ${p.suggestion ?? ""}`;
    }
  }

  // arrived waits until the file is read, and tells what came of it.
  async #arrived(one: Upload, file: string) {
    await datasets.look();
    datasets.choose(one.dataset);
    const stored = datasets.find(one.dataset);
    if (stored) await datasets.read(stored);
    const why = stored && datasets.reading(stored)?.why;
    const now = datasets.find(one.dataset);
    const table = now?.tables?.find((t) => t.file === file && t.columns);
    const told = now && datasets.problems(now).find((p) => p.path === file);
    one.status = table ? "ready" : "refused";
    one.table = table?.table_name ?? "";
    one.said = table
      ? `Ready: ${(table.row_count ?? 0).toLocaleString()} rows, ${table.columns!.length} columns in ${table.table_name}.${told ? " " + told.message : ""}`
      : sentence(`It cannot be read: ${told?.message ?? why?.message ?? "nobody knows why"}`);
  }
}

export const uploads = new Uploads();
