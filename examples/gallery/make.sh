#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# Run the gallery's examples (all, or those named), put their figures beside them and write README.md here.
# Usage: make.sh [NAME...], with thermix in PATH.
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

{
  echo "# Gallery"
  echo
  echo "Each example is a folder with one command and one figure. \`examples/gallery/make.sh\` makes the figures and this page again."
  for name in $(cd $here && ls -d */ | tr -d /); do
    echo
    sed -e 's/^# /## /' -e "s|(figure\.|($name/figure.|" "$here/$name/README.md"
  done
  echo
  echo "The site that \`./dev docs\` builds also has every figure of the suites and captured screens."
} >$here/README.md
