#!/usr/bin/env bash
# Gets what Interlock uses beside Go, gcc and Node, where this machine can: Debian's
# packages by apt-get as root or by sudo without a password. What cannot be had is
# named and left out; `interlock doctor` says what that costs. Safe to repeat.
set -euo pipefail

want=(python3 python3-pandas python3-matplotlib python3-openpyxl bubblewrap)
[ "${1:-}" = test ] && want+=(postgresql mariadb-server clickhouse-server chromium mold)

command -v go >/dev/null || { echo "setup: Go is missing; install Go $(sed -n 's/^go //p' "$(dirname "$0")/../go.mod") or later" >&2; exit 1; }
command -v gcc >/dev/null || want+=(gcc g++)

missing=()
for package in "${want[@]}"; do
  dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing+=("$package")
done
[ ${#missing[@]} -eq 0 ] && exit 0

run=()
if [ "$(id -u)" -ne 0 ]; then run=(sudo -n); fi
if ! command -v apt-get >/dev/null || ! "${run[@]}" true 2>/dev/null; then
  echo "setup: not installed, and this user cannot install them: ${missing[*]}" >&2
  exit 0
fi
echo "setup: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq >/dev/null 2>&1 || true
for package in "${missing[@]}"; do
  "${run[@]}" apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1 || echo "setup: $package cannot be installed here" >&2
done
