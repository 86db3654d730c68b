#!/usr/bin/env bash
# Brings the report to the pull request and to the summary of the run. Where this job measured, its end is that of the
# measuring, and a comment that could not be made is a warning.
set -euo pipefail

arguments=("$REPORT" --job "$JOB")
case "$COMMENT" in
always) ;;
on-change) arguments+=(--on-change) ;;
never) arguments+=(--summary-only) ;;
*)
    echo "the input comment is always, on-change or never" >&2
    exit 2
    ;;
esac

if [ -n "$MEASURED" ]; then
    abreast comment "${arguments[@]}" ||
        echo "::warning title=abreast::the comment could not be made; the log of this step says why"
else
    [ -z "$FAIL_ON" ] || arguments+=(--fail-on "$FAIL_ON")
    abreast comment "${arguments[@]}"
fi
