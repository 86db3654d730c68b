#!/usr/bin/env bash
# Says where the other steps of the action keep their files, and what the program is made from: the name of what may be
# kept from one run to the next.
set -euo pipefail
{
    echo "installed=$(command -v abreast || true)"
    echo "tool=$RUNNER_TEMP/abreast-tool"
    echo "home=$RUNNER_TEMP/abreast-home"
    # Each use of the action in a job has files of its own.
    echo "reports=$(mktemp -d "$RUNNER_TEMP/abreast-report-XXXXXX")"
    cd "$GITHUB_ACTION_PATH"
    sources=$(find Cargo.toml Cargo.lock src assets -type f -print0 | sort -z | xargs -0 sha256sum | sha256sum)
    echo "sources=${sources:0:16}"
} >>"$GITHUB_OUTPUT"
