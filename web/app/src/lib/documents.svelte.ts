// The documents that the assistant reads: their list, those on their way, and where citations lead.

import { get, messages, Problem, remove, request, pathTo } from "../api/client";
import type { AddReport, Doc, Passage } from "../api/documents";
import type { Json } from "../../../types/events";
import { addressOf } from "./session.svelte";
import type { Turn } from "./thread.svelte";
import { count, sentence } from "./words";

/** isDocument tells a document from a file of data by its name. */
export const isDocument = (name: string) => /\.(pdf|docx|md|markdown|html?|txt)$/i.test(name);

/** A Sending is one document on its way, until it is found by meaning, or why it cannot be. */
export class Sending {
  said = $state("waiting");
  share = $state<number | undefined>();
  status = $state<"sending" | "ready" | "refused" | "taken">("sending");
  constructor(readonly file: File, readonly collection: string) {}
}

class Documents {
  list = $state.raw<Doc[] | undefined>();
  sending = $state<Sending[]>([]);
  collection = $state(localStorage.getItem("collection") ?? "documents"); // takes the next documents
  #last: Promise<void> = Promise.resolve();

  async look() {
    this.list = ((await get("/api/documents")) as { documents: Doc[] }).documents;
  }

  choose(collection: string) {
    this.collection = collection;
    localStorage.setItem("collection", collection);
  }

  /** add sends documents one after the other. */
  add(files: Iterable<File>) {
    for (const file of files) {
      const one = new Sending(file, this.collection.trim() || "documents");
      this.sending.push(one);
      this.#last = this.#last.then(() => this.send(one, false));
    }
  }

  forget(one: Sending) {
    this.sending = this.sending.filter((s) => s !== one);
  }

  async send(one: Sending, replace: boolean) {
    one.status = "sending";
    one.said = "sending…";
    const form = new FormData();
    form.append("file", one.file, one.file.name);
    try {
      const response = await request(pathTo("/api/documents", {}, { collection: one.collection, replace }), { method: "POST", body: form, headers: { Accept: "text/event-stream" } });
      for await (const m of messages(response.body!)) this.#hear(one, m.name, JSON.parse(m.data));
      if (one.status === "sending") throw new Problem({ detail: "The connection broke before the document was read." });
    } catch (problem) {
      const p = problem as Problem;
      one.status = p.code === "conflict" ? "taken" : "refused";
      one.said = p.code === "conflict" ? "There is a document of this name already." : `${sentence(p.message)} ${p.suggestion ?? ""}`;
    }
    one.share = undefined;
    await this.look().catch(() => {}); // the list stays as it was; opening the view looks again
  }

  #hear(one: Sending, name: string, told: unknown) {
    if (name === "problem") throw new Problem(told as { detail: string });
    if (name === "progress") {
      const { stage, done, total } = told as { stage: string; done: number; total: number };
      one.said = stage === "embedding" ? `found by its words; learning its meaning, ${done} of ${count(total, "passage")}` : "reading…";
      one.share = total ? done / total : undefined;
    }
    if (name === "done") {
      const mine = (told as AddReport).problems?.find((p) => p.source_file === one.file.name);
      one.status = mine ? "refused" : "ready";
      one.said = mine ? `${sentence(mine.message)} ${mine.suggestion ?? ""}` : "Ready.";
    }
  }

  async remove(d: Doc) {
    await remove("/api/documents/{id}", { id: d.document_id });
    await this.look();
  }
}

export const documents = new Documents();

/** placeAddress leads to a passage. What it begins with tells it from others at its place. */
export const placeAddress = (p: Pick<Passage, "document_id" | "place" | "content">) => addressOf("documents", p.document_id, p.place || "-", p.content.slice(0, 60));

/** sourcesOf gives the passages that a turn was answered from, if the person may see them. */
export function sourcesOf(turn: Turn): Passage[] {
  const found = turn.tools.flatMap((t) => {
    const chunks = (t.result as { chunks?: Json } | undefined)?.chunks;
    return t.status !== "failed" && Array.isArray(chunks) ? (chunks as unknown as Passage[]) : [];
  });
  const once = new Map(found.filter((p) => p.document_id && p.content).map((p) => [p.document_id + "\n" + p.place + "\n" + p.content, p]));
  return [...once.values()].sort((a, b) => b.relevancy - a.relevancy);
}

/** citedIn gives the sources whose file and place an answer names. */
export const citedIn = (answer: string, sources: Passage[]) => sources.filter((p) => answer.includes(p.place ? `${p.source_file}, ${p.place}` : p.source_file));
