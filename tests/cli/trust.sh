#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-3.0-or-later
# trust.sh THERMIX LIBRARY SOURCE: code comes from where it was installed, and what the process is started with (closed streams,
# limits, full disks) ends in a message, never in a result.
set -u
thermix=$1 library=$2 source=$3
dir=$(mktemp -d) && cd "$dir" || exit 1
trap 'rm -rf "$dir"' EXIT
unset THERMIX_DATA
failed=0
say() { echo "FAILED: $*"; failed=1; }

# No run path at all, so none with an empty entry; the release build is hardened.
for file in "$thermix" "$library"; do
  readelf -dW "$file" | grep -E 'RUNPATH|RPATH' && say "$file has a run path"
  if [ "${HARDENED:-1}" = 1 ]; then
    readelf -dW "$file" | grep -q BIND_NOW || say "$file binds lazily"
    readelf -lW "$file" | grep -q GNU_RELRO || say "$file has no RELRO"
    readelf -sW --dyn-syms "$file" | grep -q '__[a-z]*_chk@' || say "$file is not fortified"
    readelf -sW --dyn-syms "$file" | grep -q '__stack_chk_fail' || say "$file has no stack protector"
  fi
done
readelf -hW "$thermix" | grep -q 'DYN' || say "the program is no PIE"

# Scripts and the page of the current folder are not taken; those of THERMIX_DATA are.
mkdir -p t plots/scripts plots/report
printf 'floorplan,mixes,peak_temp_c,gradient_c,slowdown_pct,energy_j\na.flp,1,80,5,2,1000\nb.flp,1,82,6,3,1100\n' > t/table.csv
echo 'system("touch PWNED_cwd; touch '"$dir"'/PWNED_cwd")' > plots/scripts/floorplans.gp
echo '<script>own()</script>@DATA@ @SCRIPT@' > plots/report/page.html
if command -v gnuplot > /dev/null; then
  "$thermix" plot t -q -o f 2> err.txt || say "plot beside a folder plots/: $(cat err.txt)"
  "$thermix" report t -o page.html > /dev/null 2> err.txt || say "report beside a folder plots/: $(cat err.txt)"
  grep -q 'own()' page.html && say "the page of the current folder was taken"
  grep -q 'Content-Security-Policy' page.html || say "the page has no Content-Security-Policy"
fi
ls PWNED* 2> /dev/null && say "a script of the current folder was run"

# A folder of THERMIX_DATA is a choice, which -v shows.
printf 'chip = "gtx280"; mix = "hot_cold"; seed = 1; tick_s = 0.05; quantum_s = 0.05; rows = 8; cols = 8;\n' > plain.cfg
THERMIX_DATA=$source "$thermix" run ./plain.cfg -q -v > out.txt 2> err.txt || say "run -v: $(cat err.txt)"
grep -qxF "thermix run: data from $source (THERMIX_DATA)" err.txt || say "-v names no folder of data: $(cat err.txt)"
"$thermix" run ./plain.cfg -q -v > out.txt 2> err.txt || say "run -v: $(cat err.txt)"
grep -q 'data from' err.txt && say "-v names a folder that nothing chose"

# A module that others may write, or whose folder they may, is refused.
mkdir -p open mine && chmod 700 mine && cp "$library" mine/m.so && cp "$library" open/m.so && chmod 700 open/m.so && chmod 755 mine/m.so
module() { # "words" FILE
  printf 'chip = "gtx280"; mix = "hot_cold"; seed = 1; modules = ("%s");\n' "$2" > module.cfg
  "$thermix" run ./module.cfg -q > /dev/null 2> err.txt && say "$2 was taken"
  grep -qF -- "$1" err.txt || say "$2: $(cat err.txt)"
}
chmod 757 open && module 'everybody may write it' ./open/m.so
chmod 775 open && module 'its group may write it' ./open/m.so
chmod 700 open && chmod 720 open/m.so && module 'its group may write it' ./open/m.so

# Closed streams: what is written holds no message.
flp=$source/floorplans/gtx280/gtx280.flp
cat > tiny.flp <<'F'
A 0.005 0.01 0 0
B 0.005 0.01 0.005 0
F
printf 'A\tB\n%s' "$(yes '10	1' | head -20)" > p.ptrace; echo >> p.ptrace
"$thermix" thermal -f tiny.flp -p p.ptrace -o good.ttrace -grid_rows 8 -grid_cols 8 > /dev/null 2>&1 || say thermal
for closed in '2>&-' '1>&- 2>&-' '0<&- 1>&- 2>&-'; do
  eval '"$thermix" thermal -f tiny.flp -p p.ptrace -o o.ttrace -grid_rows 8 -grid_cols 8 '"$closed" || say "thermal $closed"
  cmp good.ttrace o.ttrace || say "a message is in the result after $closed"
done
# Limits: a message, and no result.
(ulimit -v 102400; timeout 20 "$thermix" --version > out.txt 2> err.txt; [ $? = 1 ]) || say "little address space: no end"
grep -q 'address space' err.txt || say "little address space: $(cat err.txt)"
rm -f o.ttrace
(ulimit -f 0; "$thermix" thermal -f tiny.flp -p p.ptrace -o o.ttrace -grid_rows 8 -grid_cols 8 2>&1 > /dev/null; echo "rc $?") | cat > out.txt
grep -q 'File too large' out.txt && grep -q 'rc 1' out.txt || say "a limit on sizes: $(cat out.txt)"
[ -e o.ttrace ] && say "half a result is left"
if command -v gnuplot > /dev/null && [ -w /dev/full ]; then # a gnuplot that stops in the middle, as on a full disk
  mkdir bin && cat > bin/gnuplot <<'G'
#!/bin/sh
case $* in --version) exit 0;; esac
echo '<svg><polygon points="' > figure.svg
G
  chmod +x bin/gnuplot
  PATH=$dir/bin:$PATH "$thermix" plot t -q -o half > /dev/null 2> err.txt; code=$?
  [ $code = 1 ] && grep -q 'only in part' err.txt || say "half a figure: exit $code, $(cat err.txt)"
  ls half/*.svg 2> /dev/null && say "half a figure is left"
  # One that is killed, and an ffmpeg that stops before it has written the index of its film: no input is at fault.
  printf '#!/bin/sh\ncase $* in --version) exit 0;; esac\nkill -9 $$\n' > bin/gnuplot
  PATH=$dir/bin:$PATH "$thermix" plot t -q -o half > /dev/null 2> err.txt; code=$?
  [ $code = 1 ] && grep -q 'gnuplot failed (exit code 137)' err.txt || say "a gnuplot that is killed: exit $code, $(cat err.txt)"
  rm bin/gnuplot
  cat > bin/ffmpeg <<'G'
#!/bin/sh
case $* in -version) exit 0;; esac
printf '\0\0\0\20ftypisom\0\0\2\0\0\0\0\14mdatabcd' > film.mp4
[ -n "$CUT" ] || printf '\0\0\0\10moov' >> film.mp4
G
  chmod +x bin/ffmpeg
  "$thermix" run ./plain.cfg -q -o film --hotspot 1 || say "a run with temperatures"
  CUT=1 PATH=$dir/bin:$PATH "$thermix" animate film -o x.mp4 --frames 1 > /dev/null 2> err.txt; code=$?
  [ $code = 1 ] && grep -q 'only in part' err.txt && [ ! -e x.mp4 ] || say "half a film: exit $code, $(cat err.txt)"
  PATH=$dir/bin:$PATH "$thermix" animate film -o x.mp4 --frames 1 > /dev/null 2> err.txt && [ -s x.mp4 ] && [ ! -e x.mp4.frames ] || say "a whole film: $(cat err.txt) $(ls x.mp4.frames)"
fi
# A cache whose lock a stopped program holds costs one wait in all, and not one for each of three files.
if command -v flock > /dev/null; then
  mkdir -p locked/thermix && chmod 700 locked/thermix && (umask 077; : > locked/thermix/lock)
  from=$SECONDS
  XDG_CACHE_HOME=$dir/free "$thermix" cta --core sm_cycle MUM BLK KMN > /dev/null 2> err.txt || say "a free cache: $(cat err.txt)"
  free=$((SECONDS - from)) # beside other programs all takes its time
  exec 9<> locked/thermix/lock && flock 9
  from=$SECONDS
  XDG_CACHE_HOME=$dir/locked "$thermix" cta --core sm_cycle MUM BLK KMN > /dev/null 2> err.txt 9>&- || say "a locked cache: $(cat err.txt)"
  [ $((SECONDS - from)) -lt $((2 * free + 11)) ] || say "a locked cache: $((SECONDS - from)) s, a free one $free s"
  exec 9>&-
  [ "$(ls locked/thermix)" = lock ] || say "the locked cache was written"
fi
# What the current folder has under a shipped name is taken, and said with both paths.
mkdir -p inst/bin inst/share hidden/workloads/mixes && cp "$thermix" inst/bin && ln -s "$source" inst/share/thermix
sed 's/work_s = [0-9.]*/work_s = 0.5/' "$source/workloads/mixes/hot_hot.cfg" > hidden/workloads/mixes/hot_hot.cfg
(cd hidden && ../inst/bin/thermix check hot_hot) > /dev/null 2> err.txt || say "a mix of the current folder: $(cat err.txt)"
grep -q 'mix hot_hot is workloads/mixes/hot_hot.cfg of the current folder, not /.*/workloads/mixes/hot_hot.cfg' err.txt ||
  say "a mix of the current folder hides a shipped one in silence: $(cat err.txt)"
cp "$source/workloads/mixes/hot_hot.cfg" hidden/workloads/mixes/
(cd hidden && ../inst/bin/thermix check hot_hot) 2>&1 | grep -q 'current folder' && say "a copy of a shipped mix is called another"
# A study's name is no path.
printf 'chip = "gtx280"; mix = "./mix.cfg"; seed = 1; tick_s = 0.01; rows = 8; cols = 8;\n' > run.cfg
printf 'name = "m"; kernels = ( { kernel = "SVM"; work_s = 0.1; } );\n' > mix.cfg
printf 'name = "../../x"; base = "../../run.cfg"; axes = ( { key = "seed"; values = [1, 2]; } );\n' > s.cfg
mkdir -p a/b && cp s.cfg a/b && (cd a/b && "$thermix" sweep ./s.cfg -q > /dev/null 2> ../../err.txt) && say "a study ../../x was written"
grep -q "cannot be a file's name" err.txt || say "a study ../../x: $(cat err.txt)"
ls ./*.sqlite 2> /dev/null && say "a study's name is a path"
exit $failed
