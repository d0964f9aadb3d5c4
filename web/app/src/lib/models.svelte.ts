// The model that answers, and others that could.

import { get } from "../api/client";
import type { ModelsView } from "../api/schema";
import { session } from "./session.svelte";

class Models {
  view = $state.raw<ModelsView | undefined>();

  /** look asks the server, which looks for model servers on its machine. One without this route has nothing to offer. */
  async look() {
    const view = await get("/api/models").catch(() => undefined);
    if (view) this.take(view);
  }

  take(view: ModelsView) {
    this.view = view;
    session.model = view.built_in ? "offline" : view.model;
  }
}

export const models = new Models();
