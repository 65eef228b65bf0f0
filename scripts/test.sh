#!/usr/bin/env bash
# Sets up what is missing and runs every check and test. Arguments go to pytest.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
ensure_venv dev
bash scripts/setup_drivers.sh
exec "$VENV/bin/python" -m pytest -n "${TILEC_TEST_WORKERS:-2}" "$@"
