#!/usr/bin/env bash
# Runs the system tests on other versions of Node: scripts/node-versions.sh [VERSION…] (22 24). Their binaries come from npm's
# package of each platform; a version that can't be fetched is "not run". Build first: npm run build.
set -uo pipefail
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
# Tests run the program as another user too.
chmod 755 "$scratch"
trap 'rm -rf "$scratch"' EXIT
failed=0
for version in "${@:-22 24}"; do
  for one in $version; do
    package="node-linux-$(uname -m | sed 's/x86_64/x64/; s/aarch64/arm64/')@$one"
    if ! npm install --silent --no-save --ignore-scripts --prefix "$scratch/$one" "$package" >/dev/null 2>&1; then
      echo "Node $one: not run, npm could not fetch $package"
      continue
    fi
    node=$(find "$scratch/$one/node_modules" -path '*/bin/node' -type f | head -1)
    echo "Node $("$node" --version)"
    PATH="$(dirname "$node"):$PATH" npx vitest run --project system ${KB_NODE_FILTER:-} </dev/null || failed=1
  done
done
exit "$failed"
