# Shared by the judges: a network namespace, a server that is started, restarted when it dies, and stopped.
# It knows how to start a server from a command template, not what any judge asks of it.
#   judged server: $JUDGED, a template with {port} {dir} {shards}; --reference judges Debian's redis-server.
repository=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
judges=$repository/tests/judges
cache=${CORELANE_TESTS_CACHE:-$HOME/.cache/corelane-tests}
export LC_ALL=C.UTF-8
reference_command="redis-server --port {port} --bind 127.0.0.1 --dir {dir} --save '' --enable-debug-command yes --enable-protected-configs yes"
own_command="${CORELANE_BINARY:-$repository/target/quick/corelane} serve --port {port} --dir {dir} --shards {shards} --enable-debug-command yes"
server_pid=

# What every judge is told: sets shards, reference, save, JUDGED and, with what is left, rest.
read_options() {
  shards=1 reference='' save=''
  while [[ ${1:-} == --* ]]; do
    case $1 in
      --shards) shards=$2; shift 2 ;;
      --reference) reference=1; shift ;;
      --save) save=1; shift ;;
      *) echo "unknown option $1" >&2; exit 2 ;;
    esac
  done
  rest=("$@")
  if [ -n "$reference" ]; then JUDGED=$reference_command; else JUDGED=${JUDGED:-$own_command}; fi
}

# A checked-in list without its comments.
list_or_nothing() { if [ -e "$1" ]; then grep -v '^#' "$1" | sort -u; fi; }

# Ports are free and nothing leaves the machine in a namespace of our own; without root the judge runs as it is.
enter_namespace() {
  [ -z "${IN_JUDGE_NAMESPACE:-}" ] || return 0
  export IN_JUDGE_NAMESPACE=1
  if [ "$(id -u)" = 0 ] && unshare -n true 2>/dev/null; then
    exec unshare -n bash -c 'ip link set lo up; exec "$@"' judge "$0" "$@"
  fi
}

answers_ping() { [ "$(timeout 2 redis-cli -h 127.0.0.1 -p "$port" ping 2>/dev/null)" = PONG ]; }

start_server() {
  local command=$JUDGED try
  mkdir -p "$work/server"
  command=${command//\{port\}/$port}
  command=${command//\{dir\}/$work/server}
  command=${command//\{shards\}/$shards}
  (cd "$work/server" && eval "exec $command" >>"$work/server.log" 2>&1 </dev/null) &
  server_pid=$!
  for ((try = 0; try < 100; try++)); do
    answers_ping && return 0
    sleep 0.1
  done
  echo "the server does not answer PING: $command" >&2
  tail -n 20 "$work/server.log" >&2
  exit 3
}

stop_server() {
  local try
  [ -n "$server_pid" ] || return 0
  kill "$server_pid" 2>/dev/null || true
  for ((try = 0; try < 50; try++)); do
    kill -0 "$server_pid" 2>/dev/null || break
    sleep 0.1
  done
  kill -9 "$server_pid" 2>/dev/null || true
  wait "$server_pid" 2>/dev/null || true
  server_pid=
}

# Between two parts of a judge: true if the server still answers, else it is started anew.
ensure_server() {
  answers_ping && return 0
  echo "the server did not answer any more; its last lines:"
  tail -n 5 "$work/server.log"
  stop_server
  start_server
  return 1
}

finish() {
  stop_server
  if [ -n "${KEEP:-}" ]; then echo "kept $work"; else rm -rf "$work"; fi
}
