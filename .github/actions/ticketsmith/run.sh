#!/usr/bin/env bash
# One step. What people wrote comes in the event's file alone, never on a command line.
set -euo pipefail

program="$RUNNER_TEMP/ticketsmith/bin/ticketsmith"

case "$DO" in
work)
    "$program" ci --repo "$TARGET" --bundle "$BUNDLE" ${MODEL:+--model "$MODEL"}
    if [ -f "$BUNDLE" ]; then
        echo "bundle=true" >>"$GITHUB_OUTPUT"
    fi
    ;;
publish)
    "$program" ci publish "$BUNDLE" --repo "$TARGET"
    ;;
markers)
    "$program" markers
    ;;
*)
    echo "do must be work, publish or markers" >&2
    exit 2
    ;;
esac
