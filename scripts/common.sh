# Shared by the scripts beside it: where things are, how to become root, how to make the virtual environment.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
ROOT=$PWD
DRIVERS=$ROOT/.drivers
VENV=$ROOT/.venv

say() { printf '%s\n' "$*" >&2; }

# Runs a command as root, or fails without asking for a password.
as_root() {
  if [ "$(id -u)" = 0 ]; then "$@"; elif command -v sudo >/dev/null && sudo -n true 2>/dev/null; then sudo -n -E "$@"; else return 1; fi
}

# Installs Debian or Ubuntu packages that are missing; the lists are fetched at most once a run.
apt_install() {
  local name missing=()
  command -v apt-get >/dev/null || return 1
  for name in "$@"; do
    dpkg-query -W -f='${Status}' "$name" 2>/dev/null | grep -q 'ok installed' || missing+=("$name")
  done
  [ ${#missing[@]} = 0 ] && return 0
  if [ -z "${APT_UPDATED:-}" ]; then
    quietly as_root apt-get -qq update || return 1
    export APT_UPDATED=1
  fi
  say "installing ${missing[*]}"
  quietly as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq install -y --no-install-recommends "${missing[@]}"
}

# Runs a command, and shows what it printed only where it fails.
quietly() {
  local printed status=0
  printed=$("$@" 2>&1) || status=$?
  [ $status = 0 ] || [ -z "$printed" ] || say "$printed"
  return $status
}

# ensure_venv EXTRAS: a virtual environment with this checkout installed and the named extras.
ensure_venv() {
  local extras=$1 python=${PYTHON:-python3} stamp=$VENV/.installed-$1
  if ! [ -x "$VENV/bin/python" ]; then
    "$python" -c 'import sys; sys.exit(sys.version_info < (3, 10))' || { say "tilec needs Python 3.10 or newer; name one with PYTHON=..."; exit 1; }
    # Debian and Ubuntu ship Python without the part that makes environments.
    "$python" -c 'import ensurepip' 2>/dev/null || apt_install python3-venv || { say "install python3-venv first: apt-get install python3-venv"; exit 1; }
    "$python" -m venv "$VENV"
  fi
  if ! [ "$stamp" -nt pyproject.toml ]; then
    say "installing tilec[$extras] into .venv"
    "$VENV/bin/python" -m pip install -q --disable-pip-version-check -e ".[$extras]" >&2
    touch "$stamp"
  fi
}
