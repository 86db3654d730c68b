#!/bin/sh
# Makes DejaVuSans-subset.ttf, the font in which plots are measured (src/report/svg.rs embeds it).
#
# Needs DejaVu Sans 2.37 (Debian: fonts-dejavu-core) and fonttools 4.68 (pip install fonttools).
# Kept: ASCII, Latin-1, Greek, and the signs reports use (dashes, quotes, ellipsis, arrows, minus, comparison signs).
# DejaVuSans-LICENSE.txt is the licence as the font itself carries it.
set -eu
cd "$(dirname "$0")"
pyftsubset "${1:-/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf}" \
    --unicodes=U+0020-007E,U+00A0-00FF,U+0370-03FF,U+2010-2015,U+2018-201D,U+2020-2022,U+2026,U+2190-2195,U+2206,U+2212,U+221A,U+221E,U+2248,U+2260,U+2264,U+2265 \
    --layout-features='' --no-hinting \
    --output-file=DejaVuSans-subset.ttf
