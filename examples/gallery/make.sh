#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Run the gallery's examples, all or those named, and put their figures beside them. Usage: make.sh [NAME...]; thermix in PATH.
set -euo pipefail
cd "$(dirname "$0")/../.."
here=examples/gallery
[ $# -gt 0 ] || set -- $(cd $here && ls -d */ | tr -d /)
for name in "$@"; do
  echo "$name" >&2
  rm -rf "out/gallery/$name"
  $here/"$name"/run.sh "out/gallery/$name" >&2
  for figure in "out/gallery/$name"/figure.*; do
    case $figure in *.svg | *.png) cp "$figure" "$here/$name/" ;; esac
  done
done

# The sheet of all of them, and of screens as an 80-column terminal shows them: docs/gallery.md.
screen() { # screen COMMAND...: the command and what it prints
  printf '\n```text\n$ %s\n' "$*"
  COLUMNS=80 NO_COLOR=1 "$@" 2>/dev/null
  printf '```\n'
}
{
  echo "# Gallery"
  echo
  echo "Twelve examples, each a folder with one command and one figure; \`examples/gallery/make.sh\` makes them and this page again."
  for name in $(cd $here && ls -d */ | tr -d /); do
    echo
    sed -e 's/^# /## /' -e "s|(figure\.|(../$here/$name/figure.|" "$here/$name/README.md"
  done
  echo
  echo "## Screens"
  echo
  echo "As wide as the terminal; here 80 columns."
  screen thermix explain study
  screen thermix query out/gallery/fan-sweep/fan.sqlite --rows speed --pivot policy --value slowdown_pct
  screen thermix check floorplans/gtx280
} >docs/gallery.md
