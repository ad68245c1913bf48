#!/usr/bin/env python3
"""Writes the accuracies of a NAS-Bench-201 or NATS-Bench release as a table that hilo reads.

    pip install nats_bench            # or nas-bench-201-api
    export_nasbench201.py NATS-tss-v1_0-3ffb9-simple --out nas.csv --seed 888

RELEASE is what the API opens: the folder of NATS-Bench, or the .pth file of NAS-Bench-201. For every
architecture and data set the table gets the columns that hilo's own experiments use, such as in16_valid200_s888 (last epoch
of the 200-epoch schedule with that seed) and in16_valid12 (last epoch of the 12-epoch schedule), and the accuracy
after every further epoch of the 200-epoch schedule that is asked for: in16_e10. Any two columns can be the fidelities
of a problem (docs/nas.md).
"""
import argparse
import csv
import os
import sys

DATA_SETS = {"c10": "cifar10-valid", "c100": "cifar100", "in16": "ImageNet16-120"}


def open_release(path):
    """The API object: of nats_bench for a folder, of nas-bench-201-api for a file."""
    package = "nats_bench" if os.path.isdir(path) else "nas-bench-201-api"
    try:
        if package == "nats_bench":
            from nats_bench import create
            return create(path, "tss", fast_mode=True, verbose=False)
        from nas_201_api import NASBench201API
        return NASBench201API(path, verbose=False)
    except ImportError:
        sys.exit(f"export_nasbench201: install {package} first")


def validation_accuracy(api, index, data_set, schedule, epoch, seed):
    """The accuracy in percent after `epoch` epochs (from 1) of the 12- or 200-epoch schedule."""
    info = api.get_more_info(index, data_set, iepoch=epoch - 1, hp=schedule, is_random=seed)
    for key in ("valid-accuracy", "valtest-accuracy", "test-accuracy"):
        if info.get(key) is not None:
            return info[key]
    raise KeyError(f"architecture {index}, {data_set}, epoch {epoch}: no accuracy among {sorted(info)}")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("release", help="folder of NATS-Bench (tss) or .pth file of NAS-Bench-201")
    parser.add_argument("--out", required=True, help="table to write")
    parser.add_argument("--epochs", default="", help="more epochs, such as 10 or 1..200 (whole curves)")
    parser.add_argument("--seed", type=int, default=888, help="seed of the training runs")
    parser.add_argument("--data-sets", default=",".join(DATA_SETS), help="data sets to export, of c10, c100, in16")
    arguments = parser.parse_args()

    epochs = []
    for part in filter(None, arguments.epochs.split(",")):
        first, _, last = part.partition("..")
        epochs += range(int(first), int(last or first) + 1)
    if epochs and (min(epochs) < 1 or max(epochs) > 200):
        parser.error("--epochs must be in 1 to 200")
    prefixes = arguments.data_sets.split(",")
    for prefix in prefixes:
        if prefix not in DATA_SETS:
            parser.error(f"--data-sets: '{prefix}' is none of {', '.join(DATA_SETS)}")

    api = open_release(arguments.release)
    with open(arguments.out, "w", newline="") as out:
        writer = csv.writer(out, lineterminator="\n")
        header = ["arch_str"]
        for prefix in prefixes:
            header += [f"{prefix}_valid200_s{arguments.seed}", f"{prefix}_valid12"]
            header += [f"{prefix}_e{epoch}" for epoch in epochs]
        writer.writerow(header)
        for index in range(len(api)):
            row = [api.arch(index) if callable(getattr(api, "arch", None)) else api[index]]
            for prefix in prefixes:
                wanted = [("200", 200, arguments.seed), ("12", 12, False)]
                for schedule, epoch, seed in wanted + [("200", e, arguments.seed) for e in epochs]:
                    value = validation_accuracy(api, index, DATA_SETS[prefix], schedule, epoch, seed)
                    row.append(f"{value:.4f}")
            writer.writerow(row)
            if index % 500 == 0:
                print(f"\r{index} of {len(api)}", end="", file=sys.stderr)
    print(f"\r{arguments.out}: {len(api)} architectures", file=sys.stderr)


if __name__ == "__main__":
    main()
