#!/usr/bin/env python3
"""Counts model calls and tokens a turn of the machine analyst over ten conversations.

    conversations.py BINARY DATA DIALOGUES [PORT]

DATA holds a folder of files for each dataset, DIALOGUES the conversations with a statement for each turn. The model is
played by this program: it asks for the schema where the prompt does not describe the data, runs the statement of the
turn and answers. A token counts as four characters of tools and messages.
"""
import json, os, subprocess, sys, tempfile, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

binary, data, dialogues = sys.argv[1:4]
port = int(sys.argv[4]) if len(sys.argv) > 4 else 45193
OTHER_DIALECT = ("strftime", "julianday", "substr", "date(")  # of SQLite


def usable(turn):
    return turn["expect"] == "answer" and turn["gold"] and not any(w in turn["gold"][0] for w in OTHER_DIALECT)


played = [d for d in json.load(open(dialogues)) if len(d["turns"]) >= 2 and all(map(usable, d["turns"]))][:10]
by_text = {t["say"]: (d["dataset"], t["gold"][0]) for d in played for t in d["turns"]}
requests = []  # characters of all, and of tools


class Model(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *args):
        pass

    def do_POST(self):
        req = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        messages, tools = req["messages"], req.get("tools") or []
        requests.append((len(json.dumps([messages, tools], ensure_ascii=False)), len(json.dumps(tools))))
        asked = [i for i, m in enumerate(messages) if m["role"] == "user" and not m["content"].startswith("[")][-1]
        dataset, sql = by_text[messages[asked]["content"].split("\n\n[")[0]]
        results = [m["content"] for m in messages[asked:] if m["role"] == "tool"]
        described = "## The data" in messages[0]["content"] or any("sample" in r for r in results)
        if not described:
            self.reply("get_dataset_schema", {"dataset_id": dataset})
        elif not any('"rows"' in r or '"error"' in r for r in results if "sample" not in r):
            self.reply("execute_sql", {"dataset_id": dataset, "sql": sql, **({"answer": True} if '"answer"' in json.dumps(tools) else {})})
        else:
            self.reply(None, None)

    def reply(self, tool, args):
        delta = {"role": "assistant", "content": "It is in the table."}
        if tool:
            call = {"index": 0, "id": f"c{len(requests)}", "type": "function", "function": {"name": tool, "arguments": json.dumps(args)}}
            delta = {"role": "assistant", "tool_calls": [call]}
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        self.close_connection = True
        for d, finish in ((delta, None), ({}, "tool_calls" if tool else "stop")):
            chunk = {"id": "x", "object": "chat.completion.chunk", "created": 1, "model": "played", "choices": [{"index": 0, "delta": d, "finish_reason": finish}]}
            self.wfile.write(f"data: {json.dumps(chunk)}\n\n".encode())
        self.wfile.write(b"data: [DONE]\n\n")


threading.Thread(target=ThreadingHTTPServer(("127.0.0.1", port), Model).serve_forever, daemon=True).start()
site = f"http://127.0.0.1:{port + 1}"
server = subprocess.Popen(
    [binary, "serve", "--listen", f"127.0.0.1:{port + 1}", "--openai-url", f"http://127.0.0.1:{port}/v1", "--model", "played", "--data", data, "--state", tempfile.mkdtemp()],
    env={**os.environ, "OPENAI_API_KEY": "x"}, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
try:
    for _ in range(200):
        try:
            urllib.request.urlopen(site + "/healthz")
            break
        except OSError:
            time.sleep(0.3)
    turns = 0
    for d in played:
        thread, before = None, len(requests)
        for t in d["turns"]:
            body = {"message": t["say"], "dataset_id": d["dataset"], "machine": "analyst", **({"thread_id": thread} if thread else {})}
            post = urllib.request.Request(site + "/chat", json.dumps(body).encode(), {"Content-Type": "application/json"})
            thread = json.load(urllib.request.urlopen(post, timeout=200))["thread_id"]
        turns += len(d["turns"])
        mine, n = requests[before:], len(d["turns"])
        print(f'{d["id"]}: {n} turns, {len(mine) / n:.1f} calls, {sum(c for c, _ in mine) / 4 / n:,.0f} tokens a turn')
    chars, tools = map(sum, zip(*requests))
    print(f"all: {turns} turns, {len(requests) / turns:.2f} calls, {chars / 4 / turns:,.0f} tokens a turn, tools {100 * tools / chars:.0f} %")
finally:
    server.terminate()
    server.wait()
