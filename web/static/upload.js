// Files on their way into a dataset: dropped anywhere on the page, or chosen.

import { upload } from "./api.js";
import { bytes, el, fill, sentence } from "./dom.js";

const elsewhere = "uploads"; // the dataset of files that no chosen one takes

/** An Uploads list shows each file until it can be asked, or why it cannot. */
export class Uploads {
  constructor(node, { panel, choose }) {
    Object.assign(this, { node, panel, choose, last: Promise.resolve() });
  }

  /** target is the dataset that takes the next files. */
  target() {
    const chosen = this.panel.find(this.panel.chosen());
    return chosen?.accepts_files ? chosen.id : elsewhere;
  }

  /** add sends files one after the other. */
  add(files) {
    const dataset = this.target();
    for (const file of files) {
      const line = this.line(file, dataset);
      this.last = this.last.then(() => this.send(line, file, dataset, false));
    }
    return this.last;
  }

  line(file, dataset) {
    const line = { bar: el("progress", { max: "1", value: "0", "aria-label": `Sending ${file.name}` }), said: el("p.quiet", { role: "status" }, "waiting") };
    line.node = el("li", el("div", el("b", file.name), el("span.quiet", ` ${bytes(file.size)} → ${dataset}`)), line.bar, line.said,
      el("button.link", { type: "button", "aria-label": `Forget ${file.name}`, onclick: () => line.node.remove() }, "×"));
    this.node.append(line.node);
    return line;
  }

  async send(line, file, dataset, replace) {
    line.node.className = "";
    line.bar.hidden = false;
    try {
      const { files } = await upload(`/api/datasets/${encodeURIComponent(dataset)}/files?create=true&replace=${replace}`, file, (share) => {
        line.bar.value = share;
        line.said.textContent = share < 1 ? `${Math.round(share * 100)} %` : "storing…";
      });
      line.bar.removeAttribute("value");
      line.said.textContent = "reading…";
      await this.arrived(line, dataset, files[0].file);
    } catch (problem) {
      this.fail(line, problem.message, problem.suggestion);
      if (problem.code === "conflict") {
        fill(line.said, "There is a file of this name already. ", el("button", { type: "button", onclick: () => this.send(line, file, dataset, true) }, "Replace it"));
      }
    }
    line.bar.hidden = true;
  }

  // arrived waits until the file is read, and tells what came of it.
  async arrived(line, dataset, file) {
    await this.panel.look();
    this.choose(dataset);
    const stored = this.panel.find(dataset);
    const state = stored && await this.panel.read(stored).then(() => this.panel.reading.get(stored.id + " " + stored.version_hash));
    const now = this.panel.find(dataset);
    const table = now?.tables?.find((t) => t.file === file && t.columns);
    const told = [...(now?.problems ?? []), ...(Array.isArray(state?.why?.details) ? state.why.details : [])].find((p) => p.path === file);
    if (table) {
      line.node.className = "ready";
      line.said.textContent = `Ready: ${table.row_count?.toLocaleString() ?? 0} rows, ${table.columns.length} columns in ${table.table_name}.` + (told ? " " + told.message : "");
    } else this.fail(line, `It cannot be read: ${told?.message ?? state?.why?.message ?? "nobody knows why."}`);
  }

  fail(line, message, suggestion) {
    line.node.className = "refused";
    fill(line.said, sentence(message), suggestion && ` ${suggestion}`);
  }

  /** acceptDrops takes files that are dropped anywhere; the veil says where they go. */
  acceptDrops(veil) {
    const withFiles = (e) => e.dataTransfer?.types.includes("Files");
    const lift = () => { veil.hidden = true; };
    addEventListener("dragenter", (e) => {
      if (!withFiles(e)) return;
      e.preventDefault();
      fill(veil, el("p", "Drop to add to ", el("b", this.target())), el("p.quiet", "CSV, TSV, JSON, NDJSON, Parquet, Excel or DuckDB files"));
      veil.hidden = false;
    });
    addEventListener("dragover", (e) => { if (withFiles(e)) e.preventDefault(); });
    addEventListener("dragleave", (e) => { if (!e.relatedTarget) lift(); });
    addEventListener("drop", (e) => {
      lift();
      if (!withFiles(e)) return;
      e.preventDefault();
      if (e.dataTransfer.files.length) this.dropped(e.dataTransfer.files);
    });
  }

  dropped(files) { this.add(files); }
}
