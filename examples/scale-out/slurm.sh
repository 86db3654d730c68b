#!/bin/bash
# One task of an array for each shard; each has its node to itself while it measures. Start it with the bundle:
#
#   array=$(sbatch --parsable --array=0-3 slurm.sh bundle.tar.zst)
#   sbatch --dependency="afterok:$array" --wrap 'abreast judge shard-*.jsonl -o report.md -o report.json'
#
#SBATCH --job-name=abreast
#SBATCH --nodes=1
#SBATCH --exclusive
#SBATCH --time=01:00:00
#SBATCH --output=shard-%a.log
set -euo pipefail

# On a disk of the node: what is unpacked is run from there, and nobody else's lock is waited for.
ABREAST_HOME=$(mktemp -d)
export ABREAST_HOME
trap 'rm -rf "$ABREAST_HOME"' EXIT

abreast record "$1" --shard auto --no-progress -o "shard-$SLURM_ARRAY_TASK_ID.jsonl"
