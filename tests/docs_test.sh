#!/usr/bin/env bash
# docs_test.sh SOURCE_DIR HILO: runs every hilo and sqlite3 command that README.md and docs/ show in
# their sh blocks, in order, in a folder that holds what the pages show: the spec of docs/spec.md and
# the tables of docs/tables.md. Runs take 2 seeds instead of what they say, to be quick.
set -euo pipefail
source_dir=$1
hilo=$2
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
mkdir "$work/bin"
ln -s "$hilo" "$work/bin/hilo"
export PATH="$work/bin:$PATH"
cd "$work"

# block FILE LANGUAGE N: the N-th code block of that language.
block() {
  awk -v want="$2" -v n="$3" '/^```/ { if (!inside) { inside = 1; if ($0 == "```" want) take = (++seen == n) }
    else { inside = 0; take = 0 } next } take' "$1"
}
block "$source_dir/docs/spec.md" toml 1 > my-spec.toml
block "$source_dir/docs/learn.md" toml 1 > plant.toml
# One episode instead of three and shorter searches: they take seconds.
block "$source_dir/docs/control.md" toml 1 | sed 's/^episodes = 3$/episodes = 1/; s/^kind = "corrected"$/&\ngenerations = 10/' > control.toml
block "$source_dir/docs/control.md" toml 2 > swing.toml
cp "$source_dir"/examples/programs/* .
gcc -O2 -o river river.c
for side in high low; do
  mkdir -p my-pair/$side
  block "$source_dir/docs/tables.md" csv 1 > my-pair/$side/transitions.csv
  block "$source_dir/docs/tables.md" csv 2 > my-pair/$side/start.csv
done
block "$source_dir/docs/tables.md" csv 3 > my-pair/map.csv
for file in my-spec.toml plant.toml control.toml swing.toml my-pair/high/transitions.csv my-pair/map.csv; do
  [ -s "$file" ] || { echo "docs show no $file"; exit 1; }
done

count=0
for page in "$source_dir/README.md" "$source_dir"/docs/{learn,evaluate,control,programs,usage,spec,tables,store,nas}.md; do
  while IFS= read -r line; do
    command=${line%%  #*}
    case $command in
      *hilo\ run*--dry-run* | *hilo\ reproduce*--list*) ;;
      *hilo\ reproduce\ synthetic*) command="$command --dry-run" ;;  # minutes, even with two seeds
      *hilo\ run* | *hilo\ reproduce*) command="$command --seeds 2" ;;
      hilo\ * | sqlite3\ * | source\ *) ;;
      *) continue ;;
    esac
    count=$((count + 1))
    code=0
    bash -c "$command" > output.txt 2>&1 || code=$?
    # With two seeds a verdict may fail; that is not what is tested here.
    case $command in hilo\ reproduce*) [ $code -ne 1 ] || code=0 ;; esac
    if [ $code -ne 0 ] || [ ! -s output.txt ]; then
      case $command in source*|*--csv*) [ $code -ne 0 ] || continue ;; esac
      echo "${page##*/}: '$command' gave exit code $code and printed:"
      cat output.txt
      exit 1
    fi
  done < <(awk '/^```/ { if (!inside) { inside = 1; take = ($0 == "```sh") } else { inside = 0; take = 0 } next } take' "$page")
done
[ $count -ge 15 ] || { echo "only $count commands were found"; exit 1; }
echo "$count commands of the documentation ran"
