# What .ci/run and .ci/full share: sections with their seconds, in the foreground or beside others, and the
# table at the end. One fault does not hide the next: a section that fails is red, and the rest still runs.
set -uo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
which=$(basename "$0")
began=$SECONDS
ci=$(mktemp -d)
touch "$ci/red" "$ci/table"
trap 'rm -rf "$ci"' EXIT
# All that is printed is kept, so that the end can list what was skipped, unsteady or failed.
exec > >(tee "$ci/log") 2>&1

# A file that fails runs once more, alone: what fails once is listed as unsteady. A skip is red unless no
# installation could have avoided it (tools/testing/skips.mjs).
export ARPO_LAB_TEST_AGAIN=1 ARPO_LAB_TEST_SKIPS=strict

# Runs a command of a section; the section is red where one fails.
must() {
  "$@" && return
  echo "  $*" >>"$ci/red"
  echo "RED: $*"
}

# Where pictures of pages go.
export ARPO_LAB_SCREENSHOTS=${ARPO_LAB_SCREENSHOTS:-$PWD/node_modules/.cache/screenshots}

# `.ci/full WORD…` runs, of the sections that stand after `choose`, those whose names contain a word.
words=("$@")
choosing=""
choose() { [ ${#words[@]} = 0 ] || choosing=yes; }
chosen() { # NAME
  local word
  [ -n "$choosing" ] || return 0
  for word in "${words[@]}"; do [[ $1 == *"$word"* ]] && return 0; done
  return 1
}

sections=0
joining=""

timed() { # NUMBER NAME COMMAND…: runs a section in a shell of its own, whose CPU seconds are then known
  local number=$1 name=$2 from=$SECONDS
  shift 2
  (
    must "$@"
    times >"$ci/times.$number"
  )
  local cpu
  cpu=$(awk 'NR == 2 { for (i = 1; i <= 2; i++) { split($i, part, /[ms]/); sum += part[1] * 60 + part[2] } print int(sum) }' "$ci/times.$number")
  printf '%s\t%s\t%s\t%s\n' "$number" "$((SECONDS - from))" "$cpu" "$name" >>"$ci/table"
}

section() { # NAME COMMAND…: runs a section now
  chosen "$1" || return 0
  sections=$((sections + 1))
  printf '\n=== %s (after %d s)\n' "$1" "$((SECONDS - began))"
  timed "$sections" "$@"
}

beside() { # NAME COMMAND…: begins a section that runs beside those that follow
  sections=$((sections + 1))
  timed "$sections" "$@" >"$ci/beside.$sections" 2>&1 &
  joining+="$sections:$!:$1"$'\n'
}

wait_beside() { # waits for the sections that run beside, and shows what they printed
  local number process name
  while IFS=: read -r number process name; do
    [ -n "$number" ] || continue
    wait "$process"
    printf '\n=== %s (until %d s)\n' "$name" "$((SECONDS - began))"
    cat "$ci/beside.$number"
  done <<<"$joining"
  joining=""
}

# Installs what of these packages Debian's package list lacks. That list decides, not a file: Chromium's
# folder, for one, has a Vulkan loader that only Chromium uses.
debian() {
  command -v apt-get >/dev/null || { echo "no apt-get: what the tests need must be here already: $*" && return; }
  local missing="" package root=""
  for package in "$@"; do
    dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null | grep -qx installed || missing+=" $package"
  done
  echo "to install:${missing:- nothing}"
  [ -n "$missing" ] || return 0
  [ "$(id -u)" = 0 ] || root="sudo -n"
  $root apt-get update -qq && $root env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
}

# Python environments are kept between runs.
python_home=${ARPO_LAB_CI_PYTHON:-${XDG_CACHE_HOME:-$HOME/.cache}/arpo-lab-ci}

pinned() { # NAME: the packages of an environment of .ci/clients.txt; without their versions where ARPO_LAB_NEWEST is set
  awk -v name="$1" -v newest="${ARPO_LAB_NEWEST:-}" '$1 == name { if (newest) sub(/(==|@)[0-9][^=@]*$/, "", $2); print $2 }' .ci/clients.txt
}
clients=$(pinned clients)

python_packages() { # NAME PACKAGE…: installs from PyPI into the environment NAME; UV_PYTHON chooses its version
  local place=$python_home/$1
  shift
  if command -v uv >/dev/null; then
    uv venv -q --allow-existing "$place" && uv pip install -q --python "$place/bin/python" "$@"
  else
    python3 -m venv "$place" && "$place/bin/python" -m pip install -q "$@"
  fi
}

slow() { # WORD…: the slow suites whose paths contain a word
  node tools/test.mjs --only-slow "$@"
}

mark_green() { # refs/ci/run or refs/ci/full is the last commit that passed as it is; npm run release:check reads it
  [ -z "${words[*]:-}" ] && [ -z "$(git status --porcelain -- . ':!docs/ci.md')" ] || return 0
  git update-ref "refs/ci/$which" HEAD || true
}

finish() { # prints the table, writes it to docs/ci.md, and lists what was skipped, unsteady or failed
  wait_beside
  local total=$((SECONDS - began))
  printf '\n=== done\n'
  sort -n "$ci/table" | node tools/testing/ci-table.mjs "$which" "$total" "${words[*]:-}"
  sleep 1 # until tee has written the last lines
  local list
  for list in "skipped:^ *﹣ |^left out: " "failed once and passed once:^UNSTEADY " "left in the temporary folder:^LEFT " "failed:^FAILED "; do
    echo "${list%%:*}:"
    grep -hE "${list#*:}" "$ci/log" | sed -E 's/^ *(﹣|UNSTEADY|LEFT|FAILED)? ?/  /' | sort -u | grep . || echo "  nothing"
  done
  [ -s "$ci/red" ] || { mark_green && printf '\n%s is green\n' ".ci/$which" && exit 0; }
  echo "red:"
  sort -u "$ci/red"
  exit 1
}
