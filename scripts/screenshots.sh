#!/usr/bin/env bash
# Takes pictures of every view of the page on the demo data: light and dark, 1440 and 390 pixels
# wide, into bin/screenshots. BIN is the program; `scripts/screenshots.sh docs` renews the four of docs/ as well.
set -euo pipefail
cd "$(dirname "$0")/.."
bin=$(realpath "${BIN:-bin/interlock}")
port=${PORT:-8769}
out=$PWD/bin/screenshots
work=$(mktemp -d)
trap 'kill "${server:-}" 2>/dev/null || true; rm -rf "$work"' EXIT

chromium=$(command -v chromium || command -v chromium-browser || command -v google-chrome) || { echo "screenshots: Chromium is missing (package chromium)" >&2; exit 1; }
cp web/e2e/*.js web/e2e/package*.json "$work"
(cd "$work" && npm ci --prefer-offline --no-audit --no-fund --ignore-scripts --loglevel=error >/dev/null)
"$bin" demo --out "$work/demo" >/dev/null
"$bin" serve --listen "127.0.0.1:$port" --data "$work/demo" --state "$work/state" --provider offline >"$work/log" 2>&1 &
server=$!
for _ in $(seq 200); do grep -q "is ready" "$work/log" && break; kill -0 $server || { cat "$work/log" >&2; exit 1; }; sleep 0.2; done
mkdir -p "$out"
(cd "$work" && OUT=$out INTERLOCK_URL=http://127.0.0.1:$port CHROMIUM=$chromium node screenshots.js)
echo "The pictures are in bin/screenshots."
[ "${1:-}" = docs ] || exit 0
for pair in answer-light-1440:page reconcile-light-1440:reconcile artifact-light-1440:artifacts machine-dark-1440:machine; do
  cp "$out/${pair%%:*}.png" "docs/${pair##*:}.png"
done
