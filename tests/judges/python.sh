#!/bin/bash
# Suites of Python clients against one server: redis-py's own tests (sync and async), fakeredis's, which hold it against
# Redis itself, and its hypothesis machines (pair), which hold it against Valkey. Lists as for tcl.sh: reference/, known/
# (only grows). What fails over a command that is not there yet is counted apart; other failures of tests that the
# reference passes have a reason in known/python-later.txt.
#   python.sh [--shards N] [--reference] [--save] [suite...]
#   suites: redis-py-resp2 redis-py-resp3 fakeredis pair, of which -quick behind the name is a part that takes seconds,
#   and huey walrus django-redis, of programs that live on a server
#   --reference judges Debian's server; with --save its passes become reference/, ours are added to known/.
set -uo pipefail
# shellcheck source=lib.sh
. "$(dirname "${BASH_SOURCE[0]}")/lib.sh"
enter_namespace "$@"
read_options "$@"
suites=("${rest[@]}")
[ ${#suites[@]} -gt 0 ] || suites=(redis-py-resp2 redis-py-resp3 fakeredis huey walrus django-redis pair)
suite_seconds=${SUITE_SECONDS:-1200}
# The sources of redis-py and django-redis name this port.
port=6379
work=$(mktemp -d "${TMPDIR:-/tmp}/judge.XXXXXX")
second_pid=
leave() {
  [ -z "$second_pid" ] || kill "$second_pid" 2>/dev/null
  finish
}
trap leave EXIT
trap 'exit 130' INT TERM

# Tests of timeouts dial addresses that must not answer: all that is not here falls into a hole.
dig_hole() {
  [ "$(id -u)" = 0 ] && [ -n "$(ip link show lo 2>/dev/null)" ] || return 0
  [ "$(ip -o link | wc -l)" -le 2 ] || return 0
  ip link add hole type veth peer name bottom && ip link set hole up && ip link set bottom up &&
    ip address add 198.18.0.1/24 dev hole &&
    ip neighbour add 198.18.0.2 lladdr 02:00:00:00:00:02 dev hole nud permanent &&
    ip route add default via 198.18.0.2 dev hole
}

start_second() {
  export REFERENCE_PORT=6381
  mkdir -p "$work/second"
  "$cache/valkey/bin/valkey-server" --port "$REFERENCE_PORT" --bind 127.0.0.1 --dir "$work/second" --save '' >"$work/second.log" 2>&1 &
  second_pid=$!
}

# What is wanted of redis-py: not what needs a cluster, modules, TLS, sentinels or a service in the clouds.
redis_py() {
  local protocol=$1 marks ignored=() path
  shift
  marks='not onlycluster and not redismod and not ssl and not replica and not cp_integration'
  marks+=' and not fixed_client and not multidb_integration and not experimental'
  for path in test_scenario test_multidb test_observability test_auth test_sentinel.py maint_notifications; do
    ignored+=("--ignore=tests/$path" "--ignore=tests/test_asyncio/$path")
  done
  suite_folder=$cache/python/src/redis-8.1.0 suite_tools=redis-py
  suite_options=("--redis-url=redis://127.0.0.1:$port/0" "--protocol=$protocol" -m "$marks" "${ignored[@]}" "$@")
}

fakeredis() {
  rm -rf "$work/fakeredis"
  cp -r "$cache/python/src/fakeredis-2.41.0" "$work/fakeredis"
  grep -rl 6390 "$work/fakeredis/test" | xargs sed -i "s/\b6390\b/$port/g; s/\"localhost\"/\"127.0.0.1\"/g"
  suite_folder=$work/fakeredis suite_tools=fakeredis
  suite_options=("$@")
}

program() {
  suite_tools=$1 suite_folder=$cache/python/src/$2
  shift 2
  suite_options=("$@")
}

# Of what needs commands that are not there yet a part skips the whole families: their tests only take time.
later='not acl and not stream and not xadd and not xgroup and not script and not function and not eval'
later+=' and not slowlog and not tracking and not dump and not lua'

choose() {
  case $1 in
    redis-py-resp2) redis_py 2 tests ;;
    redis-py-resp3) redis_py 3 tests ;;
    redis-py-resp2-quick) redis_py 2 -k "$later" tests/test_commands.py tests/test_pipeline.py ;;
    redis-py-resp3-quick) redis_py 3 -k "$later" tests/test_asyncio/test_commands.py \
      tests/test_asyncio/test_pipeline.py ;;
    fakeredis) fakeredis -m 'real and not slow' --ignore=test/test_hypothesis --ignore=test/test_stack \
      --ignore=test/test_dragonfly test ;;
    fakeredis-quick) fakeredis -m 'real and not slow' -k "$later" test/test_mixins ;;
    huey) program huey huey-3.5.4 -k 'redis or Redis' huey/tests ;;
    walrus)
      export WALRUS_REDIS_HOST=127.0.0.1 WALRUS_REDIS_PORT=$port
      program huey walrus-0.9.8 -o 'python_files=*.py' walrus/tests
      ;;
    django-redis) program django-redis django_redis-7.0.0 --ds=tests.settings.sqlite tests ;;
    pair) start_second; fakeredis -p pair "--hypothesis-seed=${SEED:-1}" test/test_hypothesis ;;
    pair-quick)
      export EXAMPLES=${EXAMPLES:-10}
      start_second
      fakeredis -p pair "--hypothesis-seed=${SEED:-1}" test/test_hypothesis
      ;;
    *) echo "unknown suite $1" >&2; exit 2 ;;
  esac
  case $1 in pair*) test_seconds=600 ;; *) test_seconds=60 ;; esac
}

# One suite's passes, in $work/passed; some suites leave workers behind, so it has a session of its own.
run_suite() {
  local started=$SECONDS pid waited
  export VERDICTS=$work/verdicts PYTHONPATH=$judges/python PYTHONDONTWRITEBYTECODE=1
  : >"$VERDICTS"
  (cd "$suite_folder" && exec setsid "$cache/python/$suite_tools/bin/python" -m pytest -q -p no:cacheprovider \
    -p verdicts --tb=native --show-capture=no -o addopts= "--timeout=$test_seconds" "${suite_options[@]}" >"$work/suite.log" 2>&1 </dev/null) &
  pid=$!
  for ((waited = 0; waited < suite_seconds; waited++)); do
    kill -0 "$pid" 2>/dev/null || break
    sleep 1
  done
  cut=
  [ "$waited" -lt "$suite_seconds" ] || cut="the suite took more than $suite_seconds s"
  kill -9 -- "-$pid" 2>/dev/null
  wait "$pid" 2>/dev/null
  awk -F'\t' '$1 == "passed" { print $2 }' "$VERDICTS" | sort -u >"$work/passed"
  awk -F'\t' '$1 == "failed" { print $2 "\t" $3 }' "$VERDICTS" | sort -u >"$work/failed"
  suite_time=$((SECONDS - started))
  [ -z "${LOGS:-}" ] || cp "$work/suite.log" "$VERDICTS" "$LOGS/"
}

# A part of a suite has a list of its own, which the whole is asked for too.
known_of() {
  local suite
  for suite in "$1" "${1%-quick}-quick"; do
    list_or_nothing "$judges/known/$suite.txt"
    list_or_nothing "$judges/known/$suite.shards-$shards.txt"
  done
}

compare_suite() {
  local suite=$1 whole=${1%-quick}
  known_of "$suite" | sort -u >"$work/known"
  list_or_nothing "$judges/reference/$whole.txt" >"$work/reference"
  if [ "$suite" != "$whole" ]; then
    cut -f2 "$VERDICTS" | sort -u | comm -12 - "$work/reference" >"$work/part"
    mv "$work/part" "$work/reference"
  fi
  comm -23 "$work/known" "$work/passed" >"$work/lost"
  # The pair has the reference beside it and needs no list: whatever fails there is a difference.
  case $suite in pair*) cut -f1 "$work/failed" | sort -u >"$work/lost" ;; esac
  # A suite that did not begin, or was cut short, says nothing of what it did not come to.
  [ -s "$work/passed" ] || cut="nothing passed in $suite"
  [ -z "$cut" ] || echo "$cut" >>"$work/lost"
  comm -13 "$work/known" "$work/passed" >"$work/gained"
  comm -23 "$work/reference" "$work/passed" >"$work/missing"
  # A test that meets a command which is not there says so; the others are told with their reason, or are ours to mend.
  grep -aE "unknown (sub)?command '|Unknown (sub)?command" "$work/failed" | cut -f1 | sort -u | comm -12 - "$work/missing" >"$work/absent"
  sed -n 's/ => .*//p' "$judges/known/python-later.txt" | sort -u >"$work/reasons"
  # A reason is for one test, or for all of its parameters.
  comm -23 "$work/missing" "$work/absent" | awk -v reasons="$work/reasons" '
    BEGIN { while ((getline line < reasons) > 0) told[line] = 1 }
    { bare = $0; sub(/\[.*/, "", bare); if (!($0 in told) && !(bare in told)) print }' >"$work/ours"
  if [ -n "$save" ] && [ -z "$cut" ]; then
    local list=$judges/known/$suite.txt
    [ -z "$reference" ] || list=$judges/reference/$whole.txt
    { list_or_nothing "$list"; cat "$work/passed"; } | sort -u >"$work/saved"
    cp "$work/saved" "$list"
  fi
}

report_suite() {
  printf "%s, %s shards: %d passed, %d failed, %d s; of the reference's %d it passes %d, %d need commands to come, %d others\n" \
    "$1" "$shards" "$(wc -l <"$work/passed")" "$(wc -l <"$work/failed")" "$suite_time" "$(wc -l <"$work/reference")" \
    "$(comm -12 "$work/reference" "$work/passed" | wc -l)" "$(wc -l <"$work/absent")" "$(wc -l <"$work/ours")"
  if [ -n "${VERBOSE:-}" ]; then
    sed 's/^/  newly passing, add to known: /' "$work/gained"
    sed 's/^/  to mend: /' "$work/ours"
  fi
  sed 's/^/  LOST: /' "$work/lost"
}

dig_hole
start_server
passed=0 lost=0
for suite in "${suites[@]}"; do
  ensure_server || echo "the server was started anew before $suite"
  choose "$suite"
  run_suite
  compare_suite "$suite"
  # Many tests look at the clock: what a busy machine lost once is asked for once more.
  if [ -s "$work/lost" ] && [ -z "$reference" ] && [[ $suite != pair* ]]; then
    sed 's/^/  lost, once more: /' "$work/lost"
    ensure_server || echo "the server was started anew before $suite"
    cp "$work/passed" "$work/first"
    run_suite
    sort -u "$work/first" "$work/passed" >"$work/both"
    mv "$work/both" "$work/passed"
    compare_suite "$suite"
  fi
  report_suite "$suite"
  case $suite in pair*) cp "$work/passed" "$work/known" ;; esac
  passed=$((passed + $(comm -12 "$work/known" "$work/passed" | wc -l)))
  lost=$((lost + $(wc -l <"$work/lost")))
done
[ -n "$reference" ] || echo "Python suites, $shards shards: $passed passed, $lost failed"
[ "$lost" = 0 ]
