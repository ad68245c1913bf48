"""What the documentation shows is run, and says what comes out."""

from __future__ import annotations

import importlib
import inspect
import json
import math
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import hilo
import nbformat
import pytest
from nbclient import NotebookClient


def blocks(page: Path, language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(), flags=re.M | re.S)


def run(code: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", code], cwd=folder, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_readme_shows_the_example_and_what_it_prints(root: Path, tmp_path: Path) -> None:
    example = (root / "examples" / "frozen_lake.py").read_text()
    assert example in blocks(root / "README.md", "python")
    printed = run(example, tmp_path)
    assert printed in blocks(root / "README.md", "text"), printed
    assert (tmp_path / "frozen-lake.png").stat().st_size > 10_000


def test_the_first_example_of_the_readme_runs(root: Path, tmp_path: Path) -> None:
    first = blocks(root / "README.md", "python")[0]
    assert "hilo.learn(" in first
    printed = run(first, tmp_path)
    assert "300 expensive episodes: 270 to learn from, 30 to test" in printed, printed
    assert (tmp_path / "lake.journal").exists()


def test_the_page_for_python_runs_from_top_to_bottom(root: Path, tmp_path: Path) -> None:
    shown = blocks(root / "docs" / "python.md", "python")
    assert len(shown) >= 4
    printed = run("\n".join(shown), tmp_path)
    for part in (
        "the pump runs at speed",
        "minus MCRL, paired",
        "Fidelities(324 states to 36, 2 actions)",
        "last-return",
    ):
        assert part in printed
    assert (tmp_path / "tank.png").exists() and (tmp_path / "tank.html").exists()


def test_the_page_for_learning_runs(root: Path, tmp_path: Path) -> None:
    (shown,) = blocks(root / "docs" / "learn.md", "python")
    run = subprocess.run(
        [sys.executable, "-c", shown], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert "60 expensive episodes: 50 to learn from, 10 to test" in run.stdout, run.stderr
    assert (tmp_path / "river.policy.json").exists()


def test_the_page_for_evaluating_runs(root: Path, tmp_path: Path) -> None:
    page = (root / "docs" / "evaluate.md").read_text()
    (shown,) = blocks(root / "docs" / "evaluate.md", "python")
    printed = run(shown, tmp_path)
    assert "as sharp as" in printed, printed
    assert (tmp_path / "pendulum.html").exists()
    # The sentence of the page is the one that is printed.
    sentence = printed.split("pendulum: ", 1)[1].split("\n")[0]
    assert sentence in page.replace("\n", " "), sentence


def test_the_page_for_control_runs(root: Path, tmp_path: Path) -> None:
    two, arrays, act = blocks(root / "docs" / "control.md", "python")
    # The usual searches take a minute.
    quick = (
        "gamma=1.0, agent={'kind': 'corrected', 'scenarios': 2, 'population': 4, 'generations': 2, 'restarts': 1, "
        "'frequencies': 20, 'fit_points': 30, 'search.low_steps': LOW}"
    )
    shown = two.replace("gamma=1.0", quick.replace("LOW", "200")) + arrays.replace("gamma=1.0", quick.replace("LOW", "0"))
    printed = run(shown, tmp_path)
    assert "5 expensive episodes: 3 to learn from, 2 to test" in printed, printed
    assert "4 expensive episodes: 2 to learn from, 2 to test" in printed, printed
    (action,) = json.loads(run(act, tmp_path))
    # tanh(0.5 cos 0.3 - sin 0.3 + 0.25/4 + 0.1), in the box from -2 to 2
    inner = 0.5 * math.cos(0.3) - math.sin(0.3) + 0.25 / 4 + 0.1
    assert abs(action - 2 * math.tanh(inner)) < 1e-12


def test_ask_and_tell_measures_what_a_run_does(root: Path, tmp_path: Path) -> None:
    shown = blocks(root / "docs" / "ask-and-tell.md", "python")
    assert len(shown) == 3
    (tmp_path / "spec.toml").write_text((root / "tests" / "ask_and_tell.toml").read_text())
    told = {}
    for line in run(shown[0], tmp_path).splitlines():
        episode, metric, value = line.split(",")
        told[int(episode), metric] = float(value)
    study = hilo.run(tmp_path / "spec.toml", store=tmp_path / "x.db", progress=False)
    c = study.columns()
    rows = zip(c["agent"], c["seed"], c["episode"], c["metric"], c["value"])
    ran = {
        (int(episode), str(metric)): float(value)
        for agent, seed, episode, metric, value in rows
        if agent == "MCRL" and seed == 0 and metric != "seconds"
    }
    told = {key: value for key, value in told.items() if key[1] != "seconds"}
    assert len(ran) > 50 and told == ran
    # The other two blocks run as well: a function, and a run that continues elsewhere.
    printed = run("\n".join([*shown[:2], shown[2], "print(again.done)"]), tmp_path)
    assert printed.splitlines()[-1] == "True"


@pytest.mark.filterwarnings("ignore")  # warnings of the notebook kernel
def test_the_notebook_runs(root: Path) -> None:
    notebook = nbformat.read(root / "docs" / "first-steps.ipynb", as_version=4)
    shown = [cell.get("outputs") for cell in notebook.cells if cell.cell_type == "code"]
    NotebookClient(notebook, timeout=300, kernel_name="python3").execute()
    ran = [cell.outputs for cell in notebook.cells if cell.cell_type == "code"]

    def texts(outputs: list[list[dict[str, object]]]) -> list[object]:
        return [out["text"] for cell in outputs for out in cell if "text" in out]

    assert len(texts(ran)) == 5
    assert texts(ran) == texts(shown), "the notebook shows what comes out"
    pictures = [out for cell in ran for out in cell if "image/png" in out.get("data", {})]
    assert len(pictures) == 1


def test_the_api_reference_is_up_to_date(root: Path) -> None:
    made = subprocess.run(
        [sys.executable, root / "tools" / "api_reference.py"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    written = (root / "docs" / "python-api.md").read_text()
    if sys.version_info[:2] != (3, 11):
        pytest.skip("signatures are written a little differently by other versions of Python")
    assert made == written, "make api-reference writes it anew"


def test_the_toy_text_example_runs(root: Path, tmp_path: Path) -> None:
    code = (root / "examples" / "toy_text.py").read_text()
    quick = re.sub(r"^            (5000|3000|1000),$", "            40,", code, count=3, flags=re.M)
    assert quick.count("            40,") == 3
    (tmp_path / "toy.py").write_text(quick)
    done = subprocess.run(
        [sys.executable, "toy.py", "--seeds", "2", "--out", "page.md"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
    )
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "page.md").read_text().count("| Bayes-high |") == 6


def texts(root: Path) -> Iterator[tuple[str, str]]:
    """All that is written for users, by where it stands: pages, examples and docstrings."""
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        yield page.name, page.read_text()
    for example in sorted((root / "examples").glob("*.py")):
        yield example.name, example.read_text()
    for cell in nbformat.read(root / "docs" / "first-steps.ipynb", as_version=4).cells:
        yield "first-steps.ipynb", cell.source
    yield "hilo", hilo.__doc__ or ""
    modules = [importlib.import_module(f"hilo.{name}") for name in ("environments",)]
    for thing in [*(getattr(hilo, name) for name in hilo.__all__), *modules]:
        named = getattr(thing, "__name__", repr(thing))
        yield named, docstring(thing)
        members = vars(thing) if isinstance(thing, type) or inspect.ismodule(thing) else {}
        for key, member in members.items():
            if not key.startswith("_"):
                yield f"{named}.{key}", docstring(member)


def docstring(thing: Any) -> str:
    text = getattr(thing, "__doc__", None)
    return text if isinstance(text, str) else ""


def find(path: str) -> Any:
    """What a dotted name stands for; AttributeError if there is none."""
    thing: Any = hilo
    for name in path.split(".")[1:]:
        if thing is hilo and name in ("environments", "serve"):
            thing = importlib.import_module(f"hilo.{name}")
        else:
            thing = getattr(thing, name)
    return thing


# hilo.db is a file. Names that begin with _ are internal, as in native signatures.
NAME = re.compile(r"(?<![\w/.-])hilo(?:\.(?!db\b|_)[A-Za-z_]\w*)+")


def test_every_name_of_the_package_that_is_written_exists(root: Path) -> None:
    seen = set()
    for where, text in texts(root):
        for name in NAME.findall(text):
            seen.add(name)
            try:
                find(name)
            except AttributeError:
                pytest.fail(f"{where}: there is no {name}")
    assert {"hilo.train", "hilo.Grid.of", "hilo.environments.DockingEnv"} <= seen


def test_every_option_that_is_written_exists(root: Path) -> None:
    found = 0
    for where, text in texts(root):
        for name, inside in re.findall(r"(?<![\w/.-])(hilo\.[\w.]+)\(([^()]*)\)", text):
            options = re.findall(r"(?:^|,)\s*(\w+)=", inside)
            if not options:
                continue
            function = find(name)
            made = function.__init__ if isinstance(function, type) else function
            native = getattr(made, "__nb_signature__", None)
            known = native[0][0] if native else str(inspect.signature(function))
            if "**" in known:  # other options go to hilo.wrap or to the problem
                known += str(inspect.signature(hilo.wrap)) + str(hilo.problem_kinds())
            for option in options:
                found += 1
                assert re.search(rf"\b{option}\b", known), f"{where}: {name} has no {option}="
    assert found > 10


def test_every_attribute_that_is_written_exists(root: Path, tmp_path: Path) -> None:
    # The keys are the variable names that the pages use.
    study = hilo.train(
        hilo.build_problem("random-mdp"), agent="mcrl", episodes=10, seeds=1, progress=False
    )
    things = {
        "study": study,
        "store": study.store,
        "policy": study.policy(),
        "grid": hilo.Grid([0], [1], [2]),
        "problem": hilo.build_problem("random-mdp"),
        "verdict": hilo.Diagnosis({}),
    }
    pattern = re.compile(rf"(?<![\w./-])({'|'.join(things)})\.(?!md|db|hpp|cpp|toml)([a-z_]\w*)")
    found = 0
    for where, text in texts(root):
        for name, attribute in pattern.findall(text):
            if where.endswith(".md") and f"`{name}.{attribute}" not in text:
                continue  # a key of a spec, or a word at the end of a sentence
            found += 1
            there = hasattr(type(things[name]), attribute) or hasattr(things[name], attribute)
            assert there, f"{where}: {name} has no {attribute}"
    assert found > 10


def test_every_name_of_the_library_that_is_written_exists(root: Path) -> None:
    folders = (root / "src" / "hilo", root / "cli" / "include")
    headers = "\n".join(h.read_text() for folder in folders for h in sorted(folder.rglob("*.hpp")))
    seen = set()
    for page in (root / "README.md", *sorted((root / "docs").glob("*.md"))):
        for name in re.findall(r"\bhilo::(\w+)", page.read_text()):
            if name in ("hilo", "mpi", "cuda", "program"):  # CMake targets
                continue
            seen.add(name)
            assert re.search(rf"\b{name}\b", headers), f"{page.name}: there is no hilo::{name}"
        for file in re.findall(r"`(\w+/\w+\.hpp)`", page.read_text()):
            there = (root / "src" / "hilo" / file).exists() or (root / file).exists()
            assert there, f"{page.name}: there is no {file}"
    assert {"Mcrl", "build_problem", "projected"} <= seen
