"""What the documentation shows is run, and says what comes out."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

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


def test_the_page_for_python_runs_from_top_to_bottom(root: Path, tmp_path: Path) -> None:
    shown = blocks(root / "docs" / "python.md", "python")
    assert len(shown) >= 4
    printed = run("\n".join(shown), tmp_path)
    for part in (
        "the pump runs at speed",
        "minus MCRL, paired",
        "FidelityPair(324 states to 36, 2 actions)",
    ):
        assert part in printed
    assert (tmp_path / "tank.png").exists() and (tmp_path / "tank.html").exists()


@pytest.mark.filterwarnings("ignore")  # of the kernel's own machinery
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
