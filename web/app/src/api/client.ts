// Talks to the server: JSON calls that are typed by /openapi.json, and event streams
// that come back by themselves.

import type { Event, Fault } from "../../../types/events";
import { parseJSON } from "../lib/number";
import type { paths } from "./schema";

let token = sessionStorage.getItem("token") ?? "";
let askToken: (failed: string) => Promise<string> = async () => "";

/** onUnauthorized sets who is asked for a token when the server wants one. */
export function onUnauthorized(ask: typeof askToken) {
  askToken = ask;
}

/** A Problem is an error that the server told, with its code and suggestion. */
export class Problem extends Error {
  status = 0;
  code = "";
  suggestion = "";
  details: unknown;

  constructor(told: { detail?: string; title?: string; status?: number; code?: string; suggestion?: string; details?: unknown }) {
    super(told.detail || told.title || "The server could not be reached.");
    this.status = told.status ?? 0;
    this.code = told.code ?? "";
    this.suggestion = told.suggestion ?? "";
    this.details = told.details;
  }
}

const withToken = (headers?: Record<string, string>) => (token ? { ...headers, Authorization: "Bearer " + token } : { ...headers });

type Options = Omit<RequestInit, "headers"> & { headers?: Record<string, string> };

/** request is fetch with the token; what is not 2xx is thrown as a Problem. */
export async function request(path: string, options: Options = {}): Promise<Response> {
  for (let failed = ""; ; ) {
    const response = await fetch(path, { ...options, headers: withToken(options.headers) }).catch((e: Error) => {
      throw e.name === "AbortError" ? e : new Problem({ detail: "The server could not be reached.", suggestion: "Check that it runs; what you typed stays here, and can be sent again.", code: "unreachable" });
    });
    if (response.ok) return response;
    const told = await response.json().catch(() => ({ status: response.status, title: response.statusText }));
    if (response.status !== 401) throw new Problem(told);
    token = await askToken(failed);
    sessionStorage.setItem("token", token);
    failed = told.detail;
  }
}

type Method = "get" | "post" | "put" | "delete" | "patch";
type PathsOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, { responses: unknown }> ? P : never }[keyof paths];
type Answer<M extends Method, P extends keyof paths> = paths[P] extends Record<M, { responses: { 200: { content: { "application/json": infer B } } } }> ? B : unknown;
type Sent<M extends Method, P extends keyof paths> = paths[P] extends Record<M, { requestBody: { content: { "application/json": infer B } } }> ? B : undefined;
type Values = Record<string, string | number | boolean | undefined>;

/** pathTo fills the parameters of a path of the description. */
export function pathTo(path: string, params: Values = {}, query: Values = {}): string {
  const filled = path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
  const asked = Object.entries(query).filter(([, v]) => v !== undefined && v !== "");
  return asked.length ? filled + "?" + new URLSearchParams(asked.map(([k, v]) => [k, String(v)])) : filled;
}

async function call(method: string, path: string, body?: unknown): Promise<unknown> {
  const response = await request(path, body === undefined ? { method } : { method, body: JSON.stringify(body), headers: { "Content-Type": "application/json" } });
  return parseJSON(await response.text());
}

export const get = <P extends PathsOf<"get">>(path: P, params?: Values, query?: Values) => call("GET", pathTo(path, params, query)) as Promise<Answer<"get", P>>;

export const post = <P extends PathsOf<"post">>(path: P, params: Values, body: Sent<"post", P> | Record<string, never>) =>
  call("POST", pathTo(path, params), body ?? {}) as Promise<Answer<"post", P>>;

export const patch = <P extends PathsOf<"patch">>(path: P, params: Values, body: Sent<"patch", P>) => call("PATCH", pathTo(path, params), body) as Promise<Answer<"patch", P>>;

export const put = <P extends PathsOf<"put">>(path: P, params: Values, body: Sent<"put", P>) => call("PUT", pathTo(path, params), body) as Promise<Answer<"put", P>>;

export const remove = <P extends PathsOf<"delete">>(path: P, params: Values) => call("DELETE", pathTo(path, params)) as Promise<Answer<"delete", P>>;

/** artifactPath is where an artifact is read: the version that a call made, also after a later one. */
export const artifactPath = (made: { artifact_id: string; version: number }) => pathTo("/api/artifacts/{id}", { id: `${made.artifact_id}@${made.version}` });

/** upload sends a file as a form; progress hears of the share that is sent. */
export function upload(path: string, file: File, progress: (share: number) => void): Promise<{ files: { file: string }[] }> {
  return new Promise((done, fail) => {
    const sending = new XMLHttpRequest();
    const form = new FormData();
    form.append("file", file, file.name);
    sending.open("POST", path);
    for (const [name, value] of Object.entries(withToken())) sending.setRequestHeader(name, value as string);
    sending.responseType = "json";
    sending.upload.onprogress = (e) => {
      if (e.lengthComputable) progress(e.loaded / e.total);
    };
    sending.onload = () => (sending.status < 300 ? done(sending.response) : fail(new Problem(sending.response ?? { title: sending.statusText })));
    sending.onerror = () => fail(new Problem({ detail: "The connection broke before the file was sent.", code: "unreachable" }));
    sending.send(form);
  });
}

/** saveBlob hands a file to the browser. */
export function saveBlob(blob: Blob, name: string) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** download fetches a file with the token and hands it to the browser. */
export const download = async (path: string, name: string) => saveBlob(await (await request(path)).blob(), name);

interface Follower {
  event(event: Event): void;
  fault(fault: Fault): void;
  /** The text in progress will be told from its beginning. */
  again(): void;
  /** The connection broke; it is tried again after so many milliseconds. */
  cut(wait: number): void;
}

const eventsPath = (thread: string, query: Values) => pathTo("/api/threads/{id}/events", { id: thread }, query);

/** earlierEvents reads the events of a thread up to one. */
export async function earlierEvents(thread: string, until: number, signal: AbortSignal, event: (event: Event) => void): Promise<void> {
  const response = await request(eventsPath(thread, { until }), { signal });
  let last = 0;
  for await (const message of messages(response.body!)) {
    if (message.name === "error") throw new Problem({ detail: (parseJSON(message.data) as Fault).message });
    const told = parseJSON(message.data) as Event;
    last = told.seq ?? last;
    event(told);
  }
  if (last < until) throw new Problem({ detail: "The connection broke before the earlier questions of this thread were read.", suggestion: "Load the page again.", code: "unreachable" });
}

/**
 * follow reads the events of the last turns of a thread, and of all that come, for as long as
 * signal lets it. After a cut it comes back with the last id, so that every stored event arrives once.
 */
export async function follow(thread: string, turns: number, signal: AbortSignal, to: Follower): Promise<void> {
  let last = "";
  for (let wait = 500; !signal.aborted; wait = Math.min(wait * 2, 10_000)) {
    try {
      const response = await request(eventsPath(thread, last ? {} : { turns }), { signal, headers: last ? { "Last-Event-ID": last } : {} });
      to.again();
      for await (const message of messages(response.body!)) {
        wait = 500;
        if (message.id) last = message.id;
        if (message.name === "error") to.fault(parseJSON(message.data) as Fault);
        else to.event(parseJSON(message.data) as Event);
      }
    } catch (e) {
      if (signal.aborted) return;
      if (!(e instanceof Problem)) console.warn(e);
      else if (e.status && e.status < 500 && e.status !== 429) throw e;
    }
    if (signal.aborted) return;
    to.cut(wait);
    await new Promise((done) => setTimeout(done, wait));
  }
}

// longestSilence is how long a stream may say nothing; the server gives a sign of life every 15 seconds.
const longestSilence = 50_000;

/** messages splits a body into server-sent events. */
export async function* messages(body: ReadableStream<Uint8Array>) {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as TransformStream<Uint8Array, string>).getReader();
  let rest = "";
  for (;;) {
    const silence = setTimeout(() => void reader.cancel(), longestSilence);
    const { value, done } = await reader.read().finally(() => clearTimeout(silence));
    if (done) return;
    rest += value;
    const blocks = rest.split("\n\n");
    rest = blocks.pop()!;
    for (const block of blocks) {
      let id = "";
      let name = "message";
      const data: string[] = [];
      for (const line of block.split("\n")) {
        const at = line.indexOf(":");
        const field = line.slice(0, at);
        const content = line.slice(at + 1).replace(/^ /, "");
        if (field === "id") id = content;
        if (field === "event") name = content;
        if (field === "data") data.push(content);
      }
      if (data.length) yield { id, name, data: data.join("\n") };
    }
  }
}
