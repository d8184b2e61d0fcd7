#!/bin/bash
# Redis's Tcl suite (7.0.15, Debian's source package) in external mode, a unit at a time, against one server.
# Lists: reference/ = passes on Debian's redis-server; known/ = must pass on ours (only grows); known/needs-later.txt.
#   tcl.sh [--shards N] [--reference] [--save] [unit...]
#   --reference judges Debian's server; with --save its passes become reference/, ours become known/.
set -uo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
enter_namespace "$@"
read_options "$@"
units=("${rest[@]}")
[ ${#units[@]} -gt 0 ] || units=(unit/type/string unit/type/incr unit/expire unit/scan unit/keyspace unit/protocol
  unit/quit unit/pause unit/multi unit/info-command unit/introspection unit/sort unit/type/list unit/type/list-3 unit/type/hash unit/type/set
  unit/type/zset unit/geo unit/bitops unit/bitfield unit/hyperloglog unit/pubsub)
unit_seconds=${UNIT_SECONDS:-120}
port=${PORT:-17111}
work=$(mktemp -d "${TMPDIR:-/tmp}/judge.XXXXXX")
trap finish EXIT
trap 'exit 130' INT TERM

# The harness wants its own tree: tests/, runtest, and the client programs under src/.
prepare_tree() {
  mkdir -p "$work/tree/src"
  cp -r "$cache/tcl/suite/tests" "$cache/tcl/suite/runtest" "$cache/tcl/suite/utils" "$work/tree/"
  mkdir -p "$work/tree/tests/tmp"
  local program
  for program in cli benchmark server check-aof check-rdb; do
    ln -s "$(command -v "redis-$program")" "$work/tree/src/redis-$program"
  done
}

# One unit's passes, in $work/passed: a name that comes twice is numbered from its second time on.
run_unit() {
  local unit=$1 log=$work/unit.log started=$SECONDS test skips=()
  : >"$work/later"
  : >"$work/alone"
  if [ -z "$reference${TRY_LATER:-}" ]; then
    sed -nE "s|^$unit :: (.*) [~=]> .*|\1|p" "$judges/known/needs-later.txt" | sort >"$work/later"
    while IFS= read -r test; do skips+=(--skiptest "$test"); done < <(
      sed -nE "s|^$unit :: (.*) => .*|\1|p" "$judges/known/needs-later.txt"
    )
  fi
  # Connections on several shards are not in each other's order before they are answered.
  if [ "$shards" -gt 1 ]; then
    while IFS= read -r test; do skips+=(--skiptest "$test"); done < <(
      sed -nE "s|^$unit :: (.*) => .*|\1|p" "$judges/known/one-shard-alone.txt" | tee "$work/alone"
    )
  fi
  (cd "$work/tree" && timeout -k 5 "$unit_seconds" ./runtest --host 127.0.0.1 --port "$port" --single "$unit" \
    --durable --timeout "$unit_seconds" --tags "${TAGS:--slow}" "${skips[@]}" >"$log" 2>&1 </dev/null)
  local code=$?
  sed -i 's/\x1b\[[0-9;]*m//g' "$log"
  grep '^\[ok\]' "$log" | sed -E 's|^\[ok\]: ||; s/ \([0-9]+ ms\)$//' |
    awk '{ seen[$0]++; print (seen[$0] > 1) ? $0 " #" seen[$0] : $0 }' | sort >"$work/passed"
  grep -E '^\[(err|exception|TIMEOUT)\]' "$log" | sed -E 's/ in tests.*//' | cut -c1-200 >"$work/failed"
  [ $code != 124 ] || echo "[TIMEOUT]: $unit took more than $unit_seconds s" >>"$work/failed"
  unit_time=$((SECONDS - started))
  [ -z "${LOGS:-}" ] || cp "$log" "$LOGS/${unit//\//-}-$shards.log"
}

# Sets lost, gained and missing (in $work) for a unit from the lists that are checked in.
compare_unit() {
  local unit=$1 name=tcl-${1#unit/}
  name=${name//\//-}
  { list_or_nothing "$judges/known/$name.txt"; list_or_nothing "$judges/known/$name.shards-$shards.txt"; } |
    sort -u | grep -vxFf "$work/alone" >"$work/known"
  list_or_nothing "$judges/reference/$name.txt" >"$work/reference"
  comm -23 "$work/known" "$work/passed" >"$work/lost"
  comm -13 "$work/known" "$work/passed" >"$work/gained"
  comm -23 "$work/reference" "$work/passed" | comm -23 - "$work/later" | grep -vxFf "$work/alone" >"$work/missing"
  if [ -n "$save" ]; then
    if [ -n "$reference" ]; then
      mkdir -p "$judges/reference"
      cp "$work/passed" "$judges/reference/$name.txt"
    else
      sort -u "$work/known" "$work/passed" >"$judges/known/$name${SAVE_SUFFIX:-}.txt"
    fi
  fi
}

report_unit() {
  local unit=$1
  printf '%s, %s shards: %d passed, %d failed, %d s; of the reference %d of %d, %d need later commands\n' \
    "$unit" "$shards" "$(wc -l <"$work/passed")" "$(wc -l <"$work/failed")" "$unit_time" \
    "$(comm -12 "$work/reference" "$work/passed" | wc -l)" "$(wc -l <"$work/reference")" "$(wc -l <"$work/later")"
  sed 's/^/  newly passing, add to known: /' "$work/gained"
  sed 's/^/  not yet: /' "$work/missing"
  sed 's/^/  LOST: /' "$work/lost"
  sed 's/^/    /' "$work/failed"
}

prepare_tree
start_server
passed=0 lost=0
for unit in "${units[@]}"; do
  ensure_server || echo "the server was started anew before $unit"
  run_unit "$unit"
  compare_unit "$unit"
  if [ -n "$reference" ]; then
    printf '%s: %d passed, %d failed\n' "$unit" "$(wc -l <"$work/passed")" "$(wc -l <"$work/failed")"
    continue
  fi
  # Many tests of the suite look at the clock: what a busy machine lost once is asked for once more.
  if [ -s "$work/lost" ]; then
    sed 's/^/  lost, once more: /' "$work/lost"
    ensure_server || echo "the server was started anew before $unit"
    run_unit "$unit"
    compare_unit "$unit"
  fi
  report_unit "$unit"
  passed=$((passed + $(comm -12 "$work/known" "$work/passed" | wc -l)))
  lost=$((lost + $(wc -l <"$work/lost")))
done
[ -n "$reference" ] || echo "Tcl suite, $shards shards: $passed passed, $lost failed"
[ "$lost" = 0 ]
