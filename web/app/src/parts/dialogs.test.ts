import { flushSync, mount, unmount } from "svelte";
import { expect, test } from "vitest";
import Confirm from "./Confirm.svelte";
import Prompt from "./Prompt.svelte";

// The browser sends close as a task of its own: the view
// that holds the dialog may be gone by then.
test("a dialog answers also when its view was left before it closed", async () => {
  const confirm = mount(Confirm, { target: document.body }) as { ask(text: string, action: string): Promise<boolean> };
  const prompt = mount(Prompt, { target: document.body }) as { ask(what: string, before: string, action: string): Promise<string> };
  flushSync();
  const dialogs = [...document.body.querySelectorAll("dialog")];
  const removed = confirm.ask("Remove it?", "Remove");
  const named = prompt.ask("Name", " new name ", "Save");
  flushSync();
  await Promise.all([unmount(confirm), unmount(prompt)]);
  for (const dialog of dialogs) {
    dialog.returnValue = "yes";
    dialog.dispatchEvent(new Event("close"));
  }
  expect(await removed).toBe(true);
  expect(await named).toBe("new name");
});
