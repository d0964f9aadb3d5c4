// A card is a question with typed answers: buttons, each with its key.

import { el, fill, words } from "./dom.js";
import { show } from "./cell.js";

/** A Card shows the question and sends one answer. */
export class Card {
  constructor(raised, answer) {
    this.raised = raised;
    this.send = answer;
    this.open = true;
    this.said = el("p.error", { role: "alert" });
    this.form = el("form.fields", { hidden: true });
    this.buttons = raised.answers.map((a) => el("button", {
      type: "button", class: a === raised.answers[0] ? "primary" : "", onclick: () => this.choose(a),
    }, a.label || words(a.name), a.key && el("kbd", a.key)));
    this.node = el("section.card", { "aria-label": raised.title },
      el("h3", raised.title), content(raised.content), el(".answers", this.buttons), this.form, this.said);
  }

  /** key answers by keyboard; it says whether the key was one of the card's. */
  key(pressed) {
    const answer = this.open && this.raised.answers.find((a) => a.key && a.key.toLowerCase() === pressed.toLowerCase());
    if (answer) this.choose(answer);
    return Boolean(answer);
  }

  choose(answer) {
    if (!this.open) return;
    const fields = Object.entries(answer.fields ?? {});
    if (!fields.length) return this.give(answer, {});
    fieldForm(this.form, fields, answer.label || words(answer.name), (values) => this.give(answer, values));
  }

  async give(answer, fields) {
    this.lock();
    this.said.textContent = "";
    try {
      await this.send({ card_id: this.raised.card, answer: answer.name, fields });
    } catch (problem) {
      this.said.textContent = problem.message;
      if (problem.code !== "card_closed") this.unlock();
    }
  }

  lock() { this.open = false; for (const b of this.buttons) b.disabled = true; }

  unlock() { this.open = true; for (const b of this.buttons) b.disabled = false; }

  answered(event) {
    this.lock();
    this.form.hidden = true;
    const i = this.raised.answers.findIndex((a) => a.name === event.answer);
    if (i >= 0) this.buttons[i].classList.add("chosen");
    this.node.classList.add("closed");
  }

  closed(event) {
    this.lock();
    this.form.hidden = true;
    this.node.classList.add("closed");
    this.said.textContent = `No longer open: ${event.cause}`;
  }
}

/** fieldForm asks for typed values: text, number, yes or no. */
export function fieldForm(form, fields, label, done) {
  const inputs = fields.map(([name, type]) => {
    const input = el("input", { name, type: type === "bool" ? "checkbox" : type === "int" || type === "float" ? "number" : "text", step: type === "float" ? "any" : null });
    return [name, type, input];
  });
  fill(form, inputs.map(([name, , input]) => el("label", words(name), input)), el("button.primary", { type: "submit" }, label));
  form.hidden = false;
  form.onsubmit = (e) => {
    e.preventDefault();
    form.hidden = true;
    done(Object.fromEntries(inputs.map(([name, type, input]) => [name, typed(type, input)])));
  };
  inputs[0][2].focus();
}

function typed(type, input) {
  if (type === "bool") return input.checked;
  if (type === "int" || type === "float") return Number(input.value);
  if (type.startsWith("list")) return input.value.split(",").map((v) => v.trim()).filter(Boolean);
  return input.value;
}

// content shows two rows side by side where there are two, and the rest by name.
function content(given) {
  if (typeof given !== "object" || given === null) return given === null ? "" : el("p", String(given));
  const { left, right, ...rest } = given;
  const pair = isRow(left) && isRow(right);
  if (left !== undefined && !pair) rest.left = left;
  if (right !== undefined && !pair) rest.right = right;
  return el(".content", pair && compare(left, right),
    Object.entries(rest).filter(([, v]) => v !== null && v !== undefined).map(([name, v]) => el(".item", el("b", words(name)), item(v))));
}

const isRow = (v) => v && typeof v === "object" && !Array.isArray(v);

function item(value) {
  if (Array.isArray(value) && value.every((v) => typeof v === "string")) return el("ul", value.map((v) => el("li", v)));
  return typeof value === "object" ? show(value, true) : el("span", String(value));
}

function compare(left, right) {
  const same = new Set(Object.values(left).filter((v) => Object.values(right).includes(v)).map(String));
  const side = (title, row) => el("div", el("h4", title), el("dl", Object.entries(row).flatMap(([name, v]) => [
    el("dt", words(name)), el("dd" + (same.has(String(v)) ? ".same" : ""), v === null ? "null" : String(v)),
  ])));
  return el(".pair", side("Left", left), side("Right", right));
}
