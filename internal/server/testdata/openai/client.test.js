// What chat programs do with the official client.
import assert from "node:assert/strict";
import { test } from "node:test";
import OpenAI from "openai";

const client = new OpenAI({ baseURL: process.env.INTERLOCK_URL + "/v1", apiKey: process.env.INTERLOCK_TOKEN, maxRetries: 0 });
const model = "desk/shop";

test("lists and gets models", async () => {
  const ids = [];
  for await (const m of client.models.list()) ids.push(m.id);
  assert.ok(ids.includes("desk") && ids.includes(model), ids.join());
  assert.equal((await client.models.retrieve(model)).id, model);
});

test("answers whole, and goes on with the conversation", async () => {
  const messages = [{ role: "system", content: "ignored" }, { role: "user", content: "SQL: select 1" }];
  const first = await client.chat.completions.create({ model, messages });
  assert.match(first.choices[0].message.content, /\| North \| 1204300\.5 \| 812 \|[^]*\(4 rows\)/);
  assert.equal(first.choices[0].finish_reason, "stop");
  messages.push(first.choices[0].message, { role: "user", content: "echo and then" });
  const { data, response } = await client.chat.completions.create({ model, messages }).withResponse();
  assert.equal(data.choices[0].message.content, "and then");
  assert.equal(data.usage.total_tokens, 1280);
  const again = await client.chat.completions.create({ model, messages }).withResponse();
  assert.equal(again.data.id, data.id);
  assert.equal(again.response.headers.get("x-thread-id"), response.headers.get("x-thread-id"));
});

test("streams", async () => {
  const stream = await client.chat.completions.create({
    model, stream: true, stream_options: { include_usage: true }, messages: [{ role: "user", content: "echo streamed words" }],
  });
  let text = "", role, finish, usage;
  for await (const chunk of stream) {
    const choice = chunk.choices[0];
    role ??= choice?.delta.role;
    text += choice?.delta.content ?? "";
    finish = choice?.finish_reason ?? finish;
    usage = chunk.usage ?? usage;
  }
  assert.deepEqual([text, role, finish, usage.completion_tokens], ["streamed words", "assistant", "stop", 80]);
  const helper = client.chat.completions.stream({ model, messages: [{ role: "user", content: "echo by the helper" }] });
  assert.equal((await helper.finalChatCompletion()).choices[0].message.content, "by the helper");
});

test("meets errors as its own", async () => {
  const ask = (c, m) => c.chat.completions.create({ model: m, messages: [{ role: "user", content: "x" }] });
  await assert.rejects(ask(client, "gpt-9"), (e) => e instanceof OpenAI.NotFoundError && e.code === "machine_not_found" && e.requestID.startsWith("q_"));
  await assert.rejects(ask(client, "desk/none"), (e) => e instanceof OpenAI.NotFoundError && e.code === "dataset_not_found");
  await assert.rejects(client.chat.completions.create({ model, messages: [] }), (e) => e instanceof OpenAI.BadRequestError && e.param === "body.messages");
  const stranger = new OpenAI({ baseURL: client.baseURL, apiKey: "wrong", maxRetries: 0 });
  await assert.rejects(ask(stranger, model), (e) => e instanceof OpenAI.AuthenticationError && e.code === "unauthorized");
});
