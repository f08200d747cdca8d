#!/usr/bin/env bash
# One step. What people wrote comes in the event's file alone, never on a command line.
set -euo pipefail

program="$RUNNER_TEMP/ticketsmith/bin/ticketsmith"
about=(--repo "$TARGET" ${ISSUE:+--issue "$ISSUE"})

# What is printed from here on may hold words of a check or of a model: none is a command to the runner.
end="$(od -An -N16 -tx1 /dev/urandom | tr -d ' \n')"
echo "::stop-commands::$end"
trap 'echo "::$end::"' EXIT

case "$DO" in
look)
    "$program" ci look --repo "$TARGET"
    ;;
receive)
    [ "$ASIDE" != true ] || about+=(--aside)
    "$program" ci receive "${about[@]}"
    ;;
work)
    "$program" ci "${about[@]}" --bundle "$BUNDLE" ${MODEL:+--model "$MODEL"}
    if [ -f "$BUNDLE" ]; then
        echo "bundle=true" >>"$GITHUB_OUTPUT"
    fi
    ;;
publish)
    "$program" ci publish "$BUNDLE" "${about[@]}"
    ;;
markers)
    "$program" markers
    ;;
*)
    echo "do must be look, receive, work, publish or markers" >&2
    exit 2
    ;;
esac
