#!/usr/bin/env bash
# ask_and_tell_test.sh SOURCE_DIR HILO EXAMPLE: the C++ program of docs/ask-and-tell.md is the example,
# to the letter, and measures what `hilo run` does.
set -euo pipefail
source=$1 program=$2 example=$3
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"

sed -n '/^```cpp$/,/^```$/p' "$source/docs/ask-and-tell.md" | sed '1d;$d' >shown.cpp
cmp shown.cpp "$source/examples/ask_and_tell.cpp"

cp "$source/tests/ask_and_tell.toml" spec.toml
"$program" run spec.toml >/dev/null
"$program" export hilo.db | grep ',MCRL,0,' | cut -d, -f4- | grep -v ',seconds,' | sort >run.csv
"$example" | grep -v ',seconds,' | sort >told.csv
[ "$(wc -l <run.csv)" -gt 50 ]
cmp run.csv told.csv
echo "ask_and_tell: $(wc -l <run.csv) numbers, the same"
