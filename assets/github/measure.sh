#!/usr/bin/env bash
# Measures, or judges what was measured elsewhere, or passes a report on. Leaves the files in $REPORTS, says where they are,
# and how it ended: the step itself ends well if there is a report, so that the comment and the artifact come first.
# Inputs are words in the environment and never part of a command.
set -euo pipefail

outputs() {
    printf '%s\n' "$@" >>"$GITHUB_OUTPUT"
}

if [ -n "$REPORT" ]; then
    outputs "report=$REPORT"
    exit 0
fi

report="$REPORTS/report.json"
arguments=(-o "$report" -o "$REPORTS/report.md")
[ -z "$THRESHOLD" ] || arguments+=(--threshold "$THRESHOLD")
[ -z "$FAIL_ON" ] || arguments+=(--fail-on "$FAIL_ON")
extra=()
# Every line of it; `read` fails at the end of its input.
IFS=$' \t\n' read -r -d '' -a extra <<<"$ARGS" || true

status=0
if [ -n "$JUDGE" ]; then
    recordings=()
    while IFS= read -r recording; do
        recordings+=("$recording")
    done < <(compgen -G "$JUDGE" | sort)
    if [ "${#recordings[@]}" = 0 ]; then
        echo "there is no file like $JUDGE: see where the recordings were downloaded to" >&2
        exit 2
    fi
    abreast judge "${recordings[@]}" "${arguments[@]}" ${extra[@]+"${extra[@]}"} || status=$?
else
    recording="$REPORTS/recording.jsonl"
    revisions=()
    [ -z "$BASE" ] || revisions+=("$BASE")
    if [ -n "$HEAD" ]; then
        if [ -z "$BASE" ]; then
            echo "the input head needs the input base: name both, or neither" >&2
            exit 2
        fi
        revisions+=("$HEAD")
    fi
    arguments+=(--recording "$recording" --no-progress)
    [ -z "$BUDGET" ] || arguments+=(--budget "$BUDGET")
    [ -z "$SHARD" ] || arguments+=(--shard "$SHARD")
    abreast compare ${revisions[@]+"${revisions[@]}"} "${arguments[@]}" ${extra[@]+"${extra[@]}"} || status=$?
    outputs "recording=$recording"
fi
# Without a report there is nothing to tell, and the program has said why.
[ -f "$report" ] || exit "$status"
outputs "report=$report" "markdown=$REPORTS/report.md" "status=$status"
