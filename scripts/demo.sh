#!/usr/bin/env bash
# Sets up what is missing and runs tilec's main job: compile a loss kernel, run it, check it against NumPy.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
ensure_venv gpu
# Without a driver the example says how to get one and runs on the NumPy interpreter.
bash scripts/setup_drivers.sh vulkan || true
exec "$VENV/bin/python" examples/token_loss.py "$@"
