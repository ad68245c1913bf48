#!/usr/bin/python3
"""export_test.py SOURCE_DIR HILO: the export script against an object with the packages' interface, and
what it writes through `hilo import`."""
import itertools
import pathlib
import subprocess
import sys
import tempfile

source, hilo = pathlib.Path(sys.argv[1]), sys.argv[2]

FAKE = '''
import itertools
OPS = ["none", "skip_connect", "nor_conv_1x1", "nor_conv_3x3", "avg_pool_3x3"]
ALL = ["|{}~0|+|{}~0|{}~1|+|{}~0|{}~1|{}~2|".format(*ops) for ops in itertools.product(OPS, repeat=6)]

class Api:
    def __len__(self):
        return len(ALL)
    def arch(self, index):
        return ALL[index]
    def get_more_info(self, index, data_set, iepoch, hp, is_random):
        assert (hp, is_random) in (("200", 888), ("12", False)) and data_set == "ImageNet16-120"
        key = "valid-accuracy" if iepoch == 199 or hp == "12" else "valtest-accuracy"
        return {"train-accuracy": 99, key: (index % 97) / 2 + iepoch / 100, "x": None}

def create(path, space, fast_mode, verbose):
    assert path == "release" and space == "tss"
    return Api()
'''

with tempfile.TemporaryDirectory() as folder:
    folder = pathlib.Path(folder)
    (folder / "nats_bench.py").write_text(FAKE)
    (folder / "release").mkdir()

    def run(*command, code=0):
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True,
                              env={"PYTHONPATH": str(folder), "PATH": "/usr/bin:/bin"})
        assert done.returncode == code, (command, done.stdout, done.stderr)
        return done.stdout + done.stderr

    script = str(source / "tools" / "export_nasbench201.py")
    run("/usr/bin/python3", script, "release", "--out", "raw.csv", "--epochs", "10", "--data-sets", "in16")
    lines = (folder / "raw.csv").read_text().splitlines()
    assert lines[0] == "arch_str,in16_valid200_s888,in16_valid12,in16_e10", lines[0]
    assert len(lines) == 15626
    assert lines[2].startswith("|none~0|+|none~0|none~1|+|none~0|none~1|skip_connect~2|,2.4900,0.6100,0.5900"), lines[2]
    assert "none of" in run("/usr/bin/python3", script, "release", "--out", "x", "--data-sets", "mnist", code=2)

    out = run(hilo, "import", "nasbench201", "raw.csv", "--out", "nas.csv")
    assert "15625 architectures, columns in16_valid200_s888, in16_valid12, in16_e10" in out, out
    assert len((folder / "nas.csv").read_text().splitlines()) == 15626
    # What the releases give is what the paper's experiments take.
    assert "3 of 3 runs to do" in run(hilo, "reproduce", "figure-3", "--table", "nas.csv", "--seeds", "1", "--dry-run")
    (folder / "cut.csv").write_text("\n".join(lines[:100]))
    assert "cut.csv" in run(hilo, "import", "nasbench201", "cut.csv", "--out", "no.csv", code=4)
    assert not (folder / "no.csv").exists()
print("the export script and hilo import agree")
