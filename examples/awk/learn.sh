#!/bin/sh
# learn.sh HILO: an expensive simulator that no library knows, through files. Each round could be an
# afternoon in a laboratory: what was asked for and what was told is safe in corridor.journal.
set -e
hilo=$1
"$hilo" learn corridor.toml --ask request.json
while [ -e request.json ]; do
  awk -f corridor.awk request.json > episode.json
  rm request.json
  "$hilo" learn corridor.toml --tell episode.json --ask request.json
done
