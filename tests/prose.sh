#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# List the worst patterns of language in documents and in comments and strings (help and messages) of C files: calques that hide who does
# what, and numbers without a leading zero. Code blocks, inline code and CSV do not count. Usage: prose.sh [FILE...];
# without FILE every tracked file but the tests' sources.
set -uo pipefail
cd "$(dirname "$0")/.."
[ $# -gt 0 ] || { git rev-parse --git-dir >/dev/null 2>&1 || { echo "not a git checkout: not checked"; exit 77; }; }
[ $# -gt 0 ] || set -- $(git ls-files '*.md' '*.h' '*.c' | grep -v '^tests/')
script='
  BEGIN {
    %bad = ("agent"  => qr/\b(?:is|are|was|were|be|been)\s+(?:not\s+|never\s+)?(?:told|said)\b/i,
            "who"    => qr/\b(?:whoever|whomever|nobody|who\s+asks?|whom\s+it)\b/i,
            "stands" => qr/\b(?:stands?|stood)\s+(?:not\s+)?(?:in|at|over|there|beside|below|above|behind)\b/i,
            "own"    => qr/\bone\x27s\s+own\b/i,
            "goes"   => qr/\bgo(?:es)?\s+so\b/i,
            "zero"   => qr/(?<=[\s(\[\/,+~-])\.(?!0\b)\d+(?=[\s%,;:)\]\/]|\.(?:\s|$)|$)/m);
    sub find_bad {
      my $text = shift;
      for my $name (sort keys %bad) {
        while ($text =~ /$bad{$name}/g) {
          my $line = 1 + (substr($text, 0, $-[0]) =~ tr/\n//);
          my ($from, $to) = ($-[0] > 40 ? $-[0] - 40 : 0, 40);
          my $around = substr($text, $from, $+[0] - $from + $to);
          $around =~ s/\s+/ /g;
          push @found, sprintf("%s:%06d: %s: ...%s...", $ARGV, $line, $name, $around);
        }
      }
    }
    sub blank { (my $s = shift) =~ tr/\n/ /c; $s }
  }
  if ($ARGV =~ /\.md$/) {
    s/^(```|~~~).*?^\1[^\n]*$/blank($&)/gems;
    s/^(?:    |\t)[^\n]*$/blank($&)/gem;
    s/`[^`\n]*`/blank($&)/ge;
  } else { # strings (adjacent ones are one text), then comments behind them: the lines stay the same
    (my $comments = $_) =~ s{("(?:\\.|[^"\\\n])*"|\x27(?:\\.|[^\x27\\\n])*\x27)|(/\*.*?\*/|//[^\n]*)|([^\n/"\x27]+|[/"\x27])}{defined $2 ? $2 : blank($1 // $3)}gse;
    $comments =~ s/^\s*\*/blank($&)/gem;
    $comments =~ s/`[^`\n]*`|"[^"\n]*"/blank($&)/ge;
    s{(/\*.*?\*/|//[^\n]*)|\x27(?:\\.|[^\x27\\\n])*\x27|"((?:\\.|[^"\\\n])*)"|[^\n/"\x27]+|[/"\x27]}{defined $2 ? " $2 " : blank($&)}gse;
    s/^\s*"|"\s*$/blank($&)/gem;
    find_bad($comments);
  }
  find_bad($_);
  END {
    s/:0*(\d+):/:$1:/, print "$_\n" for sort @found;
    exit(@found ? 1 : 0);
  }
'
# Does it find what it looks for, and only there?
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT
printf 'It is\ntold to whoever asks.\nIt stands in a file of one'"'"'s own and goes so: .4 %%.\n`is told`\n\n    is told .5\n' >"$dir/a.md"
printf 'int is_told = 1; /* nobody\n * is told */ char *c = "is told";\n' >"$dir/a.h"
printf 'f("%%.3f is "\n  "told"); /* is told */\n' >"$dir/a.c"
[ "$(perl -0777 -ne "$script" -- "$dir"/a.md "$dir"/a.h "$dir"/a.c | cut -d: -f2,3 | tr -d '\n ')" = "1:agent2:agent1:who2:agent2:agent1:agent2:who3:goes3:own3:stands3:zero" ] ||
  { perl -0777 -ne "$script" -- "$dir"/a.md "$dir"/a.h "$dir"/a.c; echo "FAILED: the patterns"; exit 1; }
perl -0777 -ne "$script" -- "$@" && echo "$# files: no sentence to write again"
