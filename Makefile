# The front door. `make demo` and `make test` are all a newcomer needs.
.DEFAULT_GOAL := help
.PHONY: help setup build mpi python demo test test-slow results results-estimators results-nas results-toy-text results-contest results-control api-reference bench bench-parts bench-compare format format-check layers lint sanitize fuzz clean

help:  ## this list
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:[^#]*## */\t/' | expand -t 16

setup:  ## install the Debian packages that building and testing need
	@tools/setup build test python

build: setup  ## programs in build/release/bin/
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release

mpi: build  ## the same program for many machines, build/release/bin/mpi/hilo
	@tools/setup mpi
	@cmake --preset release -DHILO_MPI=ON --log-level=WARNING
	@cmake --build --preset release

python: build  ## the Python package and what tests it, in build/venv
	@tools/python_venv

demo: setup  ## Figure 2(a) of the paper over 36 seeds: table, picture, verdict
	@cmake --preset release --log-level=WARNING
	@cmake --build --preset release --target hilo_cli
	@mkdir -p build/demo && build/release/bin/hilo reproduce figure-2a --store build/demo/hilo.db

test: python mpi  ## all fast tests
	@tools/setup page
	@ctest --test-dir build/release -LE slow --output-on-failure -j 2
	@HILO_PROGRAM=$(CURDIR)/build/release/bin/hilo build/venv/bin/python -m pytest

test-slow: build  ## the statistical tests behind the figures; minutes
	@ctest --test-dir build/release -L slow --verbose

results: build  ## all of the paper's synthetic study and docs/results.md from it; about 20 minutes
	@mkdir -p build/results
	@build/release/bin/hilo reproduce synthetic --store build/results/synthetic.db
	@build/release/bin/hilo report build/results/synthetic.db --out docs/results.md --figures docs/figures

results-estimators: build  ## all estimators side by side and docs/estimators.md; about 20 minutes
	@mkdir -p build/results
	@build/release/bin/hilo reproduce estimators --store build/results/estimators.db
	@build/release/bin/hilo report build/results/estimators.db --guide docs/estimators.md --figures docs/figures

results-toy-text: python  ## Gymnasium's toy-text problems and docs/toy-text.md; about 15 minutes
	@mkdir -p build/results
	@build/venv/bin/python examples/toy_text.py --store build/results/toy-text.db --out docs/toy-text.md --figures docs/figures

results-contest: build  ## all agents side by side and docs/agents.md; TABLE=FILE for real accuracies; about an hour
	@mkdir -p build/results
	@build/release/bin/hilo reproduce contest $(if $(TABLE),--table $(TABLE)) --store build/results/contest.db
	@build/release/bin/hilo report build/results/contest.db --agents docs/agents.md --figures docs/figures

results-control: build  ## agents for vectors side by side and docs/control-results.md; hours
	@mkdir -p build/results
	@build/release/bin/hilo reproduce control --store build/results/control.db
	@build/release/bin/hilo report build/results/control.db --control docs/control-results.md --figures docs/figures

results-nas: build  ## the same for architecture search: make results-nas TABLE=accuracies.csv (docs/nas.md)
	@test -n "$(TABLE)" || { echo "results-nas: give the table of real accuracies, TABLE=FILE" >&2; exit 2; }
	@mkdir -p build/results
	@build/release/bin/hilo reproduce nas --table $(TABLE) --store build/results/nas.db
	@build/release/bin/hilo report build/results/nas.db --out docs/results-nas.md --figures docs/figures

api-reference: python  ## docs/python-api.md from the docstrings
	@build/venv/bin/python tools/api_reference.py docs/python-api.md

bench: python mpi  ## speed, growth and memory into docs/performance.md; some minutes on an idle machine
	@tools/setup bench
	@cmake --preset release -DHILO_BUILD_BENCH=ON --log-level=WARNING
	@cmake --build --preset release
	@build/venv/bin/python bench/performance.py --bin build/release/bin --out docs

bench-parts: setup  ## times of single parts, by Google Benchmark
	@tools/setup bench
	@cmake --preset release -DHILO_BUILD_BENCH=ON --log-level=WARNING
	@cmake --build --preset release --target hilo_bench
	@build/release/bin/hilo_bench

bench-compare: build  ## training speed against another commit: make bench-compare BASE=main~5
	@test -n "$(BASE)" || { echo "bench-compare: give the commit to compare with, BASE=COMMIT" >&2; exit 2; }
	@tools/setup bench
	@python3 bench/compare.py $(BASE)

format:  ## rewrite all sources in the project's format
	@tools/setup format
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format -i

format-check:  ## fail where format would change something
	@tools/setup format
	@git ls-files '*.cpp' '*.hpp' | xargs clang-format --dry-run --Werror

layers:  ## fail where a folder includes one that comes after it
	@cmake -DSOURCE_DIR=$(CURDIR)/src/hilo -P tools/check_layers.cmake

lint: setup format-check layers  ## format, layers and clang-tidy
	@tools/setup lint
	@cmake --preset dev --log-level=WARNING
	@git ls-files 'src/*.cpp' 'examples/*.cpp' | xargs -P 2 -n 4 clang-tidy -p build/dev --quiet

sanitize: setup  ## the fast tests under ASan+UBSan and under TSan
	@for preset in asan tsan; do \
	  cmake --preset $$preset --log-level=WARNING && cmake --build --preset $$preset && \
	  ctest --test-dir build/$$preset -LE 'slow|project' --output-on-failure -j 2 || exit 1; done

FUZZ_SECONDS ?= 600
fuzz: setup  ## fuzz the spec and CSV parsers, FUZZ_SECONDS each
	@tools/setup lint
	@cmake --preset fuzz --log-level=WARNING && cmake --build --preset fuzz
	@for name in spec csv; do mkdir -p build/fuzz/corpus-$$name && \
	  build/fuzz/bin/$${name}_fuzz -max_total_time=$(FUZZ_SECONDS) -print_final_stats=1 -max_len=4096 \
	    build/fuzz/corpus-$$name fuzz/corpus/$$name || exit 1; done

clean:  ## remove all build output
	@rm -rf build
