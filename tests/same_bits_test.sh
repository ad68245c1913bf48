#!/usr/bin/env bash
# same_bits_test.sh SPECS PROGRAM [MPI_PROGRAM]: the results of small specs do not depend on the
# instruction set, the number of threads or ranks, MPI, a killed rank or a stop, and are those that
# were there before any of it was (SPECS/expected.sha256: all exported rows but `seconds`).
set -euo pipefail
specs=$1 program=$2 mpi_program=${3:-}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# Ranks on this machine alone, more than it has cores, whoever starts them.
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl=self,vader OMPI_MCA_plm_rsh_agent=

fail() { echo "same_bits: $*" >&2; exit 1; }

# digest STORE: of all that must be equal.
digest() { "$program" export "$1" | grep -v ',seconds,' | sha256sum | cut -d' ' -f1; }

# check NAME STORE EXPECTED
check() {
  local found
  found=$(digest "$2")
  [ "$found" = "$3" ] || fail "$1: other results ($found, not $3)"
  echo "same_bits: $1: as expected"
}

# run_specs STORE SPEC... -- COMMAND...
run_specs() {
  local store=$1 names=()
  shift
  while [ "$1" != -- ]; do names+=("$1"); shift; done
  shift
  for name in "${names[@]}"; do "$@" run "$specs/$name.toml" --store "$store" >"$work/log" 2>&1 ||
    { cat "$work/log" >&2; fail "$* run $name.toml failed"; }; done
}

all=()
for spec in "$specs"/*.toml; do all+=("$(basename "$spec" .toml)"); done
expected=$(cat "$specs/expected.sha256")
for path in scalar portable sse4 avx2 avx512; do
  if ! HILO_SIMD=$path "$program" --version >/dev/null 2>"$work/log"; then
    grep -q 'which this CPU can run' "$work/log" && [ $path != scalar ] && [ $path != portable ] ||
      { cat "$work/log" >&2; fail "$path cannot be chosen"; }
    echo "same_bits: this CPU has no $path"
    continue
  fi
  export HILO_SIMD=$path
  run_specs "$work/$path.db" "${all[@]}" -- "$program"
  check "$path" "$work/$path.db" "$expected"
done
unset HILO_SIMD

few=(agents gradients paper vectors-pendulum)
run_specs "$work/one.db" "${few[@]}" -- "$program"
expected=$(digest "$work/one.db")
for threads in 1 2 4; do
  for name in "${few[@]}"; do
    "$program" run "$specs/$name.toml" --threads $threads --store "$work/threads$threads.db" >/dev/null
  done
  check "$threads threads" "$work/threads$threads.db" "$expected"
done

[ -n "$mpi_program" ] || { echo "same_bits: no program with MPI to test"; exit 0; }
run_specs "$work/nompirun.db" "${few[@]}" -- "$mpi_program"
check "built with MPI, without mpirun" "$work/nompirun.db" "$expected"
for ranks in 1 2 3; do
  run_specs "$work/ranks$ranks.db" "${few[@]}" -- mpirun -n $ranks "$mpi_program"
  check "$ranks ranks" "$work/ranks$ranks.db" "$expected"
done

# Longer runs, to be broken off in the middle.
long=(run "$specs/paper.toml" --seeds 8 --set train.episodes=6000)
"$program" "${long[@]}" --store "$work/long.db" >/dev/null
expected=$(digest "$work/long.db")

# wait_for_runs STORE: until some are there, but not all.
wait_for_runs() {
  for _ in $(seq 200); do
    [ -e "$1" ] && [ "$(sqlite3 -readonly "$1" 'SELECT count(*) FROM run' 2>/dev/null || echo 0)" -ge 2 ] && return
    sleep 0.05
  done
  fail "no run was finished in time"
}

mpirun -n 3 "$mpi_program" "${long[@]}" --store "$work/killed.db" >"$work/log" 2>&1 &
job=$!
wait_for_runs "$work/killed.db"
rank=$(pgrep -P $job | tail -1)
kill -9 "$rank"
wait $job && fail "a job whose rank was killed ended well"
grep -q 'exited on signal 9' "$work/log" || { cat "$work/log"; fail "nothing tells that a rank was killed"; }
mpirun -n 3 "$mpi_program" "${long[@]}" --store "$work/killed.db" >"$work/log" 2>&1
grep -q '[1-9][0-9]* of 24 runs done' "$work/log" || { cat "$work/log"; fail "nothing was left to do"; }
check "a killed rank, and the same command again" "$work/killed.db" "$expected"

# Any rank may be the one that is told to stop.
for which in head tail; do
  mpirun -n 3 "$mpi_program" "${long[@]}" --store "$work/$which.db" >"$work/log" 2>&1 &
  job=$!
  wait_for_runs "$work/$which.db"
  kill -TERM "$(pgrep -P $job | $which -1)"
  wait $job && fail "a job that was told to stop says that it is done"
  grep -q 'interrupted; the same command continues' "$work/log" || { cat "$work/log"; fail "not stopped cleanly"; }
  mpirun -n 2 "$mpi_program" "${long[@]}" --store "$work/$which.db" >"$work/log" 2>&1
  check "SIGTERM to the $which of the ranks, and the same command again" "$work/$which.db" "$expected"
done
