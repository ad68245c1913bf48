#!/usr/bin/env python3
"""api_reference.py [FILE]: writes the Python API as Markdown, from the installed docstrings."""

from __future__ import annotations

import inspect
import re
import sys
from pathlib import Path
from typing import Any

import hilo
from hilo import environments

GROUPS = {
    "Learn, train and judge": [
        "learn",
        "evaluate",
        "program",
        "check_simulator",
        "Program",
        "SimulatorFindings",
        "SimulatorFinding",
        "Learnt",
        "Evaluated",
        "Worth",
        "EvaluatedEpisode",
        "Learner",
        "LearnRequest",
        "LearnSpec",
        "load_learn_spec",
        "train",
        "diagnose",
        "run",
        "wrap",
        "pair",
        "Grid",
        "Study",
        "NetworkPolicy",
        "Policy",
        "Diagnosis",
        "VectorSimulator",
        "Wrapped",
    ],
    "Problems and simulators": [
        "build_problem",
        "problem_kinds",
        "Problem",
        "Fidelities",
        "StateMap",
        "EpisodeSimulator",
        "Simulator",
        "PythonEpisodes",
        "PythonSimulator",
        "make_simulator",
        "Model",
        "TabularMdp",
        "from_table",
        "from_dense",
        "make_random_mdp",
        "degrade",
        "project",
        "Docking",
        "nas_architecture",
    ],
    "Episodes": ["Episode", "RolloutSummaries", "Walker", "Walkers", "discounted_returns"],
    "Agents and policies": ["Agent", "agent_kinds", "add_agent_kind", "QTable", "Run", "EpisodeRequest"],
    "Estimators and theory": [
        "Estimator",
        "estimator_kinds",
        "CorrectedEstimate",
        "Moments",
        "CoMoments",
        "sample_mean",
        "control_variate",
        "ControlVariate",
        "Bounded",
        "return_bound",
        "control_variate_of",
        "tail_bound",
        "range_of_lemma_1",
        "samples_needed",
        "greedy_is_best_bound",
        "mlblue_allocation",
        "mfmc_plan",
        "best_ratio",
        "error_at_equal_cost",
        "break_even_cost_ratio",
    ],
    "Exact values": [
        "value_iteration",
        "policy_iteration",
        "Solution",
        "evaluate_policy",
        "policy_matrix",
        "start_value",
        "expected_mean_reward",
        "return_moments",
    ],
    "Experiments and results": [
        "Spec",
        "parse_spec",
        "load_spec",
        "metric_kinds",
        "shipped_specs",
        "Store",
        "StoredPolicy",
        "Results",
        "Summary",
        "summarise",
    ],
    "The rest": ["Error", "Errc", "version", "commit"],
}


def plain(signature: str) -> str:
    """A signature without the names of modules and the details of arrays."""
    text = re.sub(r"Annotated\[NDArray\[(\w+)\], dict\([^)]*\)+[^]]*\]", r"NDArray[\1]", signature)
    text = re.sub(r"(?:numpy\.)?ndarray\[dtype=(\w+)[^\]]*\]", r"NDArray[\1]", text)
    text = re.sub(
        r"\b(?:hilo\._hilo|hilo\.\w+|collections\.abc|typing|numpy\.typing|numpy|os|pathlib)\.(?=\w)",
        "",
        text,
    )
    return re.sub(r"(: |-> )'([^']*)'", r"\1\2", text)


def signature_of(name: str, thing: Any) -> str:
    native = getattr(thing, "__nb_signature__", None)
    if native:
        text, _, defaults = (*native[0], ())[:3]
        text = re.sub(r"^def \w+", name, text.splitlines()[-1])
        for place, value in reversed(list(enumerate(defaults or ()))):
            text = text.replace(f"\\{place}", repr(value))
        return text.replace("(self, ", "(").replace("(self)", "()")
    try:
        text = f"{name}{inspect.signature(thing)}"
    except (TypeError, ValueError):
        return name
    return text.replace("(self, ", "(").replace("(self)", "()")


def doc_of(thing: Any) -> str:
    native = getattr(thing, "__nb_signature__", None)
    text = native[0][1] if native else inspect.getdoc(thing)
    return inspect.cleandoc(text or "")


def members(thing: type) -> list[str]:
    lines = []
    for name, member in vars(thing).items():
        if name.startswith("_"):
            continue
        if isinstance(member, property):
            lines.append(f"- `.{name}`: {' '.join((inspect.getdoc(member) or '').split())}")
        elif isinstance(member, (classmethod, staticmethod)) or callable(member):
            function = getattr(thing, name)
            signature = plain(signature_of(name, function))
            lines.append(f"- `.{signature}`: {' '.join(doc_of(function).split())}")
    return lines


def entry(name: str, thing: Any) -> list[str]:
    if not isinstance(thing, type):
        return [f"### `{plain(signature_of(name, thing))}`", "", doc_of(thing), ""]
    constructor = thing.__dict__.get("__init__")
    own = inspect.isfunction(constructor) or hasattr(constructor, "__nb_signature__")
    own = own and thing not in (
        hilo.Study,
        hilo.Policy,
        hilo.Wrapped,
        hilo.Diagnosis,
        hilo.Results,
    )  # usually made by functions of hilo
    signature = signature_of(name, constructor) if own else name
    lines = [f"### class `{plain(signature)}`", "", inspect.getdoc(thing) or "", ""]
    if issubclass(thing, int) and hasattr(thing, "__members__"):
        return (
            lines + [f"- `{key}` = {int(value)}" for key, value in thing.__members__.items()] + [""]
        )
    listed = members(thing)
    return lines + (listed + [""] if listed else [])


def agents() -> list[str]:
    """All agents with their parameters."""
    lines = [
        "## Agents and their parameters",
        "",
        'As in `agent={"kind": "bayes", "low_samples": 100}`.',
        "",
    ]
    for name, kind in hilo.agent_kinds().items():
        variants = f" Variants: {', '.join(kind['variants'])}." if kind["variants"] else ""
        lines += [f"- **`{name}`**: {kind['description']}.{variants}"]
        for p in kind["parameters"]:
            choices = f"; one of {', '.join(p['choices'])}" if p["choices"] else ""
            lines.append(f"  - `{p['name']}` = `{p['default']!r}`: {p['description']}{choices}")
    return [*lines, "", '`"mfmcrl+"` is short for `{"kind": "mfmcrl", "variant": "plus"}`.', ""]


def reference() -> str:
    named = {name for names in GROUPS.values() for name in names}
    if named != set(hilo.__all__):
        raise SystemExit(f"api_reference: ungrouped or removed names: {sorted(named ^ set(hilo.__all__))}")
    lines = [
        "# The Python package, name by name",
        "",
        "Made by `make api-reference` from the docstrings. [python.md](python.md) is where to begin.",
        "",
    ]
    for title, names in GROUPS.items():
        lines += [f"## {title}", ""]
        for name in names:
            lines += entry(name, getattr(hilo, name))
    lines += agents()
    lines += ["## Gymnasium environments", "", inspect.getdoc(environments) or "", ""]
    for kind in ("RandomMdp", "NasBench201", "Docking"):
        for suffix in ("Env", "VectorEnv"):
            thing = getattr(environments, kind + suffix)
            lines.append(
                f"- `hilo.environments.{thing.__name__}`: {' '.join((inspect.getdoc(thing) or '').split())}"
            )
    lines += ["", inspect.getdoc(environments.ProblemVectorEnv) or "", ""]
    return (
        re.sub(r"\n{3,}", "\n\n", "\n".join(lines))
        .replace("# doctest: +SKIP", "")
        .replace("``", "`")
        .rstrip()
        + "\n"
    )


if __name__ == "__main__":
    text = re.sub(r"[ \t]+$", "", reference(), flags=re.M)
    if len(sys.argv) > 1:
        Path(sys.argv[1]).write_text(text)
    else:
        print(text, end="")
