// Connects a database. The password goes to the server once and is never shown again.

import { post } from "./api.js";
import { el, fill, sentence } from "./dom.js";

/** connectForm asks for an address; done hears of the new source. */
export function connectForm(done) {
  const url = el("input", { required: true, placeholder: "postgres://ann@db.example/shop", autocomplete: "off", spellcheck: "false" });
  const password = el("input", { type: "password", autocomplete: "new-password" });
  const alias = el("input", { placeholder: "made of the address", autocomplete: "off" });
  const remote = el("input", { type: "checkbox" });
  const said = el("p", { role: "alert" }), button = el("button.primary", { type: "submit" }, "Connect");
  const form = el("form.connect",
    el("label", "Address", url), el("label", "Password", password), el("label", "Name", alias),
    el("label.switch", remote, "Query it where it is, without a copy"), button, said);
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    button.disabled = true;
    fill(said, "Connecting…");
    said.className = "quiet";
    try {
      const added = await (await post("/api/sources", {
        url: withPassword(url.value.trim(), password.value), alias: alias.value.trim() || undefined, remote: remote.checked || undefined,
      })).json();
      form.reset();
      fill(said);
      await done(added);
    } catch (problem) {
      said.className = "error";
      fill(said, sentence(problem.message), problem.suggestion && el("span.quiet", " " + problem.suggestion));
    }
    password.value = "";
    button.disabled = false;
  });
  return form;
}

// withPassword puts the password where the server takes it off again.
function withPassword(address, password) {
  if (!password) return address;
  const at = address.match(/^([a-z][a-z0-9+.-]*:\/\/)(?:([^/@:]*)(?::[^/@]*)?@)?(.*)$/i);
  return at ? `${at[1]}${at[2] ?? ""}:${encodeURIComponent(password)}@${at[3]}` : address;
}
