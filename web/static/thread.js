// Draws a thread from its log. Everything on the page comes from the same events,
// whether they are an hour old or happen now.

import { Card } from "./card.js";
import { Cell, fileLink } from "./cell.js";
import { duration, el, words } from "./dom.js";
import { markFigures } from "./figures.js";
import { markdown } from "./markdown.js";

/** A ThreadLog turns events into elements inside a node. */
export class ThreadLog {
  constructor(node, { answer, changed }) {
    this.node = node;
    this.answer = answer;
    this.changed = changed; // called when state, status or card may have changed
    this.cells = new Map();
    this.asked = new Map(); // calls as the model made them
    this.texts = new Map(); // by model call
    this.cards = new Map();
    this.path = [];
    this.running = false;
    this.run = ""; // of the present turn
    this.turn = null;
  }

  /** again forgets the text in progress: it will be told from its beginning. */
  again() {
    for (const [call, text] of this.texts) if (!text.whole) { text.node.remove(); this.texts.delete(call); }
  }

  apply(kind, event) {
    const bottom = atBottom();
    this[kind]?.(event.body);
    if (!bottom) return;
    const card = kind === "card_raised" && this.openCard().node;
    if (card && card.offsetHeight > innerHeight / 2) card.scrollIntoView();
    else scrollTo({ top: document.body.scrollHeight });
  }

  add(node) {
    if (!this.turn) this.begin(null);
    this.turn.append(node);
    return node;
  }

  begin(said) {
    this.turn = el("article.turn", said && el(".person", el("p", said)));
    this.node.append(this.turn);
  }

  openCard() { return [...this.cards.values()].findLast((c) => c.open); }

  turn_started(b) {
    this.begin(b.text);
    this.run = b.run;
    this.running = true;
    this.path = [];
    this.changed();
  }

  turn_interrupted(b) { this.add(el("p.notice", "The server was restarted; the turn " + (b.last ? "was interrupted too often and ends." : "goes on from its last finished step."))); }

  command_given(b) {
    this.add(el(".person", el("p", "⌘ " + words(b.command))));
    if (b.dropped?.length) this.add(el("p.notice", "Dropped: " + b.dropped.map(words).join(", ")));
  }

  state_entered(b) {
    this.path.push(b);
    const saw = Object.entries(b.saw ?? {}).map(([n, v]) => `${n} = ${JSON.stringify(v)}`).join("\n");
    if (b.from && b.from !== b.to) {
      this.add(el("p.move", { title: saw || null }, words(b.from), " → ", el("b", words(b.to)),
        el("span.quiet", ` ${b.cause}`), b.when && b.when !== "true" && el("code", b.when)));
    }
    this.changed();
  }

  token(b) {
    const text = this.text(b.call);
    text.said += b.text;
    if (!text.due) {
      text.due = true;
      requestAnimationFrame(() => {
        text.due = false;
        if (!text.whole) { const bottom = atBottom(); text.node.replaceChildren(markdown(text.said)); if (bottom) scrollTo({ top: document.body.scrollHeight }); }
      });
    }
  }

  text(call) {
    if (!this.texts.has(call)) this.texts.set(call, { node: this.add(el(".text.coming")), said: "", whole: false });
    return this.texts.get(call);
  }

  model_replied(b) {
    for (const call of b.calls ?? []) this.asked.set(call.id, call.args);
    if (b.text || this.texts.has(b.call)) {
      const text = this.text(b.call);
      Object.assign(text, { said: b.text ?? "", whole: true });
      text.node.className = "text";
      text.node.replaceChildren(markdown(text.said));
      this.last = text.said;
      this.lastNode = text.node;
    }
  }

  model_failed(b) { this.add(el("p.error", `The model failed (${b.code}): ${b.message}`)); }

  cell(b, args) {
    if (!this.cells.has(b.call)) {
      const cell = new Cell(b.tool, this.asked.get(b.call) ?? args, this.run);
      this.cells.set(b.call, cell);
      this.add(cell.node);
    }
    return this.cells.get(b.call);
  }

  tool_started(b) { this.cell(b, b.shown ?? b.args); }

  tool_progress(b) { this.cells.get(b.call)?.progress(b.note); }

  tool_returned(b) { this.cell(b, b.args).returned(b); }

  tool_failed(b) { this.cell(b, b.args).failed(b); }

  tool_refused(b) { this.cell(b, b.args).refused(b); }

  artifact_made(b) {
    const cell = this.cells.get(b.source_call_id);
    if (cell) cell.artifact(b);
    else this.add(el("ul.files", fileLink(b)));
  }

  card_raised(b) {
    const card = new Card(b, this.answer);
    this.cards.set(b.card, card);
    this.add(card.node);
    this.running = false;
    this.changed(true);
  }

  card_answered(b) {
    this.cards.get(b.card)?.answered(b);
    if (b.note) this.add(el(".person", el("p", b.note)));
    this.running = true;
    this.changed();
  }

  card_closed(b) { this.cards.get(b.card)?.closed(b); }

  limit_reached(b) { this.add(el("p.notice", `Limit reached: ${words(b.code)} (${b.used} of ${b.limit})`)); }

  figures_traced(b) { this.figures = b; }

  turn_ended(b) {
    const answer = b.text && b.text !== this.last ? this.add(el(".text", markdown(b.text))) : this.lastNode;
    if (this.figures && answer) markFigures(answer, this.figures);
    this.last = "";
    this.lastNode = this.figures = null;
    const tokens = (b.usage?.input ?? 0) + (b.usage?.output ?? 0);
    this.add(el("p.end", el(`span.badge.${b.status}`, words(b.status)), b.code && el("span.quiet", words(b.code)),
      el("span.quiet", [duration(b.ms), tokens ? `${tokens.toLocaleString()} tokens` : ""].filter(Boolean).join(" · "))));
    this.running = false;
    this.changed(true);
  }
}

function atBottom() { return innerHeight + scrollY >= document.body.scrollHeight - 80; }
