"""Programs as simulators, and checks whether a simulator behaves as one should."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from . import _hilo
from ._checks import text_of, whole_in
from ._errors import Error
from ._hilo import Errc


# Options that only the expensive simulator has.
HIGH_ONLY = ("workers", "on_failure", "cost_episode")


@dataclass(frozen=True)
class Program:
    """A program as a simulator. Made by hilo.program."""

    command: str
    options: dict[str, Any] = field(default_factory=dict)
    vectors: bool = False
    """Whether its observations are taken as they are, without a grid."""
    angles: tuple[int, ...] | None = None
    """Coordinates of observations that live on a circle; None if nobody has said."""

    @property
    def __name__(self) -> str:
        return self.command.split()[0].rsplit("/", 1)[-1]


# Options that cut observations and actions into cells.
OF_CELLS = ("grid", "grid_low", "grid_high", "action_grid", "terminal")


def program(
    command: str, *, vectors: bool = False, angles: Sequence[int] | None = None, **options: Any
) -> Program:
    """A program that speaks hilo's protocol, as an expensive or a cheap simulator.

    ``options`` are the keys of a spec: ``grid``, ``workers``, ``timeout_step``, ``retries``,
    ``directory``, ``inputs``, ``identity`` and others (docs/programs.md). Lists are lists.

    ``vectors`` keeps observations that are vectors as they are, for agents such as "corrected"
    (docs/control.md). It need not be said if the other simulator is one of vectors. ``angles`` are
    the coordinates of them that live on a circle.
    """
    if not isinstance(vectors, bool):
        raise Error(f"vectors is {vectors!r}, but must be True or False", Errc.usage)
    cells = [key for key in OF_CELLS if key in options]
    if vectors and cells:
        raise Error(f"{', '.join(cells)} is given, which is for cells, but vectors is True", Errc.usage)
    if angles is not None:
        if isinstance(angles, (str, bytes)) or not isinstance(angles, Sequence):
            raise Error(f"angles is {angles!r}, but must be a list of coordinates", Errc.usage)
        angles = tuple(sorted({whole_in(a, "an angle", 0, 1 << 30) for a in angles}))
        if cells:
            raise Error(f"angles are given, but also {', '.join(cells)}, which is for cells", Errc.usage)
    command = text_of(command, "command")
    if not command.split():
        raise Error(f"command is {command!r}, but must name a program", Errc.usage)
    plain: dict[str, Any] = {"command": command}
    for key, value in options.items():
        if isinstance(value, Sequence) and not isinstance(value, (str, bytes)):
            value = ", ".join(str(item) for item in value)
        if not isinstance(value, (bool, int, float, str)):
            raise Error(f"{key} is {value!r}, but must be a number, a text or a list", Errc.usage)
        plain[key] = value
    if "map" in plain or "map.command" in plain:
        raise Error("map is given to hilo.learn or hilo.train, not to a program", Errc.usage)
    _hilo.program_identity(
        {k: v for k, v in plain.items() if k not in HIGH_ONLY}
    )  # checks keys and values
    return Program(command, plain, vectors, angles)


@dataclass(frozen=True)
class SimulatorFinding:
    """One check of a simulator: what was found, what it means for learning, and what to do."""

    check: str
    verdict: str
    """"good", "bad" or "skipped"."""
    found: str
    means: str
    mend: str


@dataclass(frozen=True)
class SimulatorFindings:
    """All checks of a simulator. Printing it explains them."""

    findings: list[SimulatorFinding]

    @property
    def good(self) -> bool:
        """Whether nothing is wrong."""
        return all(finding.verdict != "bad" for finding in self.findings)

    def __str__(self) -> str:
        marks = {"good": "  ok", "bad": " BAD", "skipped": "   -"}
        lines = []
        for f in self.findings:
            lines.append(f"{marks[f.verdict]}  {f.check}" + (f": {f.found}" if f.found else ""))
            if f.verdict == "bad":
                lines.append(f"        what it means: {f.means}\n        what to do: {f.mend}")
        return "\n".join(lines)


def _made_anew(thing: Any) -> bool:
    """Whether every instance that is made of it is independent of the others."""
    from .things import is_environment
    from .wrapping import Wrapped

    inner = thing.thing if isinstance(thing, Wrapped) else thing
    return not is_environment(inner)


def check_simulator(
    simulator: Any,
    *,
    role: str = "high",
    episodes: int = 100,
    max_steps: int = 10_000,
    seed: int = 1,
    deterministic: bool = False,
) -> SimulatorFindings:
    """Looks whether a simulator behaves as one should: a program, a Gymnasium environment or its
    id, or a function (as for hilo.learn).

    The same seed must give the same episode, seeds must differ, every action must work, episodes
    must end, and more. ``role`` "low" also checks what only a cheap simulator must be able to do.
    ``deterministic`` says that only the start is random; then a path that is started in its middle
    must go on as it did. Pass an id or a function that makes the environment to have independent
    instances compared.
    """
    episodes = whole_in(episodes, "episodes", 1, 1_000_000)
    max_steps = whole_in(max_steps, "max_steps", 1, 1_000_000_000)
    seed = whole_in(seed, "seed", 0, 1_000_000_000)
    if not isinstance(role, str) or role not in ("high", "low"):
        raise Error(f"role is {role!r}, but must be 'high' or 'low'", Errc.usage)
    if not isinstance(deterministic, bool):
        raise Error(f"deterministic is {deterministic!r}, but must be True or False", Errc.usage)
    if isinstance(simulator, Program):
        own = {k: v for k, v in simulator.options.items() if k not in HIGH_ONLY}
        found = _hilo.check_program(own, episodes, max_steps, seed)
        return SimulatorFindings([SimulatorFinding(**f) for f in found])
    from .sides import make_side
    from .things import resolve
    from .vectors import is_of_vectors

    found_first = resolve(simulator)
    if is_of_vectors(found_first, {}):
        raise Error(
            f"the observations of {found_first!r:.200} are vectors, but hilo.check_simulator looks at simulators whose "
            "states are numbered, or made so by grid= of hilo.wrap. An environment can be checked as a program: "
            'hilo.check_simulator(hilo.program("python -m hilo.serve gymnasium:Pendulum-v1")). A cheap simulator '
            "of vectors is checked by hilo.learn before anything is spent",
            Errc.usage,
        )
    first = make_side(found_first, role).source
    if first is None:
        raise Error(f"{simulator!r} is a table of hilo's own: there is nothing to check", Errc.usage)

    def make() -> Any:
        return make_side(simulator, role).source

    found = _hilo.check_source(
        make, first.num_states, first.num_actions, role == "low", deterministic, episodes, max_steps, seed
    )
    if not _made_anew(simulator):
        for finding in found:
            if finding["check"] in ("fresh start", "two at once"):
                finding.update(verdict="skipped", found="it is one object", means="", mend="")
    return SimulatorFindings([SimulatorFinding(**f) for f in found])
