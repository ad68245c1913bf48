#!/usr/bin/env bash
# ask_and_tell_awk_test.sh SOURCE_DIR HILO: the simulator of examples/awk, asked and told through
# files, leaves the same bits as the same corridor as a table inside hilo.
set -euo pipefail
source=$1 program=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
cp "$source"/examples/awk/* .
for side in high low; do
  mkdir -p "corridor/$side"
  echo "state,probability
0,1" >"corridor/$side/start.csv"
  awk -v side=$side 'BEGIN {
    print "state,action,next,probability,reward"
    for (s = 0; s < 8; s++) for (a = 0; a < 2; a++) {
      n = s == 7 ? 7 : a == 1 ? s + 1 : s > 0 ? s - 1 : 0
      r = s == 7 ? 0 : n == 7 ? 1 : side == "high" ? -0.04 : -0.03
      print s "," a "," n ",1," r
    }
  }' >"corridor/$side/transitions.csv"
done
./learn.sh "$program" >told.txt
"$program" learn corridor.toml --journal inside.journal --policy inside.json >inside.txt
cmp corridor.policy.json inside.json
cmp <("$program" journal export corridor.journal) <("$program" journal export inside.journal)
cmp <(grep value told.txt) <(grep value inside.txt)
grep -q '30 expensive episodes: 25 to learn from, 5 to test' told.txt
echo "ask_and_tell_awk: the same policy, journal and value"
