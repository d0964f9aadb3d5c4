#!/usr/bin/env bash
# Builds the page into web/dist, which the binary embeds, if its source is newer than what
# is there. Without Node it says so and leaves the page out: Go builds all the same.
# `scripts/page.sh install` gets the libraries alone, for the checks.
set -euo pipefail
cd "$(dirname "$0")/../web/app"

if ! command -v npm >/dev/null; then
  echo "page: Node is missing, so the page is left out; scripts/setup.sh gets it" >&2
  exit 0
fi
exec 9<package.json # one build at a time
flock 9
if [ ! node_modules/.package-lock.json -nt package-lock.json ]; then
  # Not npm ci: it refuses a lock without the binaries of other platforms, which not every registry has.
  npm install --no-save --prefer-offline --no-audit --no-fund --ignore-scripts --loglevel=error
  touch node_modules/.package-lock.json
fi
[ "${1:-}" = install ] && exit 0
if [ ! -e ../dist/index.html ] || [ -n "$(find src public index.html package-lock.json package.json vite.config.ts svelte.config.js ../types/openapi.json ../types/events.ts -newer ../dist/index.html -print -quit)" ]; then
  npm run --silent build
fi
