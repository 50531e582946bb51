#!/usr/bin/env bash
# Changes the code of an area bit by bit, as Stryker does, and shows which changes no test sees: scripts/mutate.sh AREA [SAMPLE
# [TESTS…]], as in `scripts/mutate.sh src/storage/batch 250 test/storage test/server/sync/run.test.ts`. SAMPLE is how many changes,
# "all" unless given; TESTS are folders and files, the area's own unless given. KB_MUTATE_SEED=2 draws others.
# Stryker isn't a dependency: nobody else needs its 170 packages. 9.6 is its last version for Node 20.
set -euo pipefail
cd "$(dirname "$0")/.."
area=${1:?"Name a folder or file, as in src/storage/access"}
tests=("${@:3}")
tools=node_modules/.cache/stryker
if [ ! -d $tools/node_modules ]; then
  npm install --prefix $tools --no-save --ignore-scripts @stryker-mutator/core@9.6.1
fi
export KB_MUTATE_AREA=$area KB_MUTATE_SAMPLE=${2:-all} KB_MUTATE_SEED=${KB_MUTATE_SEED:-1}
export KB_MUTATE_TESTS="${tests[*]:-test/${area#src/}}"
exec node_modules/.bin/vitest run --config test/mutation/vitest.config.mjs
