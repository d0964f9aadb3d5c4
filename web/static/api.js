// Talks to the server: JSON calls, and event streams that come back by themselves.

import { parseJSON } from "./number.js";

let token = sessionStorage.getItem("token") || "";
let askToken = async () => "";

/** onUnauthorized sets who is asked for a token when the server wants one. */
export function onUnauthorized(ask) { askToken = ask; }

function headers(extra) {
  return token ? { ...extra, Authorization: "Bearer " + token } : { ...extra };
}

/** Problem is an error that the server told, with its code and suggestion. */
export class Problem extends Error {
  constructor(problem) {
    super(problem.detail || problem.title || "The server could not be reached.");
    Object.assign(this, problem);
  }
}

/** request is fetch with the token; what is not 2xx is thrown as a Problem. */
export async function request(path, options = {}) {
  for (let failed = ""; ;) {
    const response = await fetch(path, { ...options, headers: headers(options.headers) })
      .catch((e) => { throw e.name === "AbortError" ? e : new Problem({ detail: "The server could not be reached.", code: "unreachable" }); });
    if (response.ok) return response;
    const problem = await response.json().catch(() => ({ status: response.status, title: response.statusText }));
    if (response.status !== 401) throw new Problem(problem);
    token = await askToken(failed);
    sessionStorage.setItem("token", token);
    failed = problem.detail;
  }
}

/** artifactPath is where an artifact is read: the version that a call made, also after a later one. */
export const artifactPath = (made) => "/api/artifacts/" + encodeURIComponent(`${made.artifact_id}@${made.version}`);

/** bodyOf reads the JSON of a response, with all digits of its numbers. */
export const bodyOf = async (response) => parseJSON(await response.text());

export const get = async (path) => bodyOf(await request(path));

export const post = (path, body, options = {}) => request(path, {
  ...options, method: "POST", body: JSON.stringify(body ?? {}), headers: { "Content-Type": "application/json" },
});

export const remove = async (path) => (await request(path, { method: "DELETE" })).json();

/** upload sends a file as a form; progress hears of the share that is sent. */
export function upload(path, file, progress) {
  return new Promise((done, fail) => {
    const sending = new XMLHttpRequest(), form = new FormData();
    form.append("file", file, file.name);
    sending.open("POST", path);
    for (const [name, value] of Object.entries(headers())) sending.setRequestHeader(name, value);
    sending.responseType = "json";
    sending.upload.onprogress = (e) => { if (e.lengthComputable) progress(e.loaded / e.total); };
    sending.onload = () => (sending.status < 300 ? done(sending.response) : fail(new Problem(sending.response ?? { title: sending.statusText })));
    sending.onerror = () => fail(new Problem({ detail: "The connection broke before the file was sent.", code: "unreachable" }));
    sending.send(form);
  });
}

/** download fetches a file with the token and hands it to the browser. */
export async function download(path, name) {
  const blob = await (await request(path)).blob();
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/**
 * follow reads an event stream for as long as signal lets it. After a cut it comes
 * back with the last id, so that every stored event arrives once; `again` is called
 * first, because the text in progress is then told from its beginning.
 */
export async function follow(path, signal, { event, again, cut }) {
  let last = "";
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 10_000)) {
    try {
      const response = await request(path, { signal, headers: last ? { "Last-Event-ID": last } : {} });
      again();
      for await (const message of messages(response.body)) {
        wait = 500;
        if (message.id) last = message.id;
        event(message.name, parseJSON(message.data));
      }
    } catch (e) {
      if (signal.aborted) return;
      if (e instanceof Problem && e.status < 500 && e.status !== 429) throw e;
    }
    if (signal.aborted) return;
    cut();
    await new Promise((done) => setTimeout(done, wait));
  }
}

/** messages splits a body into server-sent events. */
async function* messages(body) {
  const reader = body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop();
    for (const block of blocks) {
      const message = { id: "", name: "message", data: [] };
      for (const line of block.split("\n")) {
        const at = line.indexOf(":");
        const field = line.slice(0, at), content = line.slice(at + 1).replace(/^ /, "");
        if (field === "id") message.id = content;
        if (field === "event") message.name = content;
        if (field === "data") message.data.push(content);
      }
      if (message.data.length) yield { ...message, data: message.data.join("\n") };
    }
  }
}
