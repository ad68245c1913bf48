"""Simulators and policies of any origin, run for whole episodes in their own spaces."""

from __future__ import annotations

import inspect
import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from . import _hilo
from ._errors import Error
from ._hilo import Errc, Problem, Simulator, TabularMdp, Walker
from .boxes import BoxSteps, Extent
from .identity import fingerprint, for_learning
from .network import NetworkPolicy, identity_of, require_fit
from .programs import HIGH_ONLY, Program
from .sources import FunctionSource
from .things import is_environment, no_simulator, required_arguments, resolve
from .vector_simulator import ArrayVectors, VectorSimulator
from .wrapping import Wrapped


@dataclass(frozen=True)
class EvaluatedEpisode:
    """One episode, for a function that measures something of it.

    ``observations`` has a row more than ``actions``; numbered ones are rows of one number.
    """

    observations: NDArray[np.float64]
    actions: NDArray[np.float64]
    rewards: NDArray[np.float64]
    truncated: bool
    """Whether it was cut by a time limit instead of ending by itself."""

    def __len__(self) -> int:
        return len(self.rewards)


class SimulatorFailed(Exception):
    """The simulator raised an exception, or returned something that is none of its answers."""


Act = Callable[[Any], Any]


class EpisodeRunner:
    """A simulator that runs whole episodes of a policy. ``cost`` is what the last one reported."""

    name = "simulator"
    identity = ""
    own_limit: int | None = None
    starts_anywhere = False
    observations: Extent | None = None
    actions: Extent | None = None
    cost: float | None = None
    over = False  # the start is a terminal state

    def begin(self, seed: int, start: Any) -> Any:
        """Begins an episode, at ``start`` if it is not None, and returns the first observation."""
        raise NotImplementedError

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        """The next observation, the reward, whether the episode ended, whether it was cut."""
        raise NotImplementedError

    def row(self, observation: Any) -> NDArray[np.float64]:
        """The numbers of an observation."""
        return np.asarray(observation, dtype=np.float64).reshape(-1)

    def action_row(self, action: Any) -> NDArray[np.float64]:
        return np.asarray(action, dtype=np.float64).reshape(-1)

    def shaped(self, action: Any) -> Any:
        """An action as the simulator takes it."""
        return action

    def run(self, act: Act, seed: int, max_steps: int, start: Any = None) -> EvaluatedEpisode:
        self.cost = None
        observation = self._answer(lambda: self.begin(seed, start))
        seen, done, rewards = [self._row(observation)], [], []
        truncated = not self.over
        for _ in range(0 if self.over else max_steps):
            action = act(observation)
            self._check(action)
            action = self.shaped(action)
            observation, reward, ended, cut = self._answer(lambda: self.step(action))  # noqa: B023
            done.append(self.action_row(action))
            seen.append(self._row(observation))
            rewards.append(reward)
            if ended or cut:
                truncated = not ended
                break
        return EvaluatedEpisode(
            np.stack(seen),
            np.stack(done) if done else np.zeros((0, 1)),
            np.asarray(rewards, dtype=np.float64),
            truncated,
        )

    def _check(self, action: Any) -> None:
        """Simulators may accept nonsense silently, so that what a policy gives is looked at first."""
        if self.actions is None:
            return  # a space of its own kind, which only the simulator knows
        wanted = 1 if isinstance(self.actions, int) else len(self.actions)
        try:
            row = self.action_row(action)
        except (TypeError, ValueError):
            row = np.zeros(0)
        good = len(row) == wanted and bool(np.all(np.isfinite(row)))
        if good and isinstance(self.actions, int):
            good = bool(0 <= row[0] < self.actions and row[0] == int(row[0]))
        if not good:
            what = f"a number from 0 to {self.actions - 1}" if isinstance(self.actions, int) else f"{wanted} numbers"
            raise Error(f"the policy gave the action {action!r}, but must give {what}", Errc.usage)

    def _row(self, observation: Any) -> NDArray[np.float64]:
        row: NDArray[np.float64] = self._answer(lambda: self.row(observation))
        if not np.all(np.isfinite(row)):
            raise SimulatorFailed(f"the observation is {observation!r}, but must be finite")
        return row

    @staticmethod
    def _answer(call: Callable[[], Any]) -> Any:
        try:
            return call()
        except Error as e:
            if e.code == Errc.simulator:
                raise SimulatorFailed(str(e)) from e
            raise
        except Exception as e:
            raise SimulatorFailed(f"{type(e).__name__}: {e}") from e


class _Environment(EpisodeRunner):
    """A Gymnasium environment with any spaces that can be written as numbers."""

    def __init__(self, env: Any, identity: str | None) -> None:
        self._steps = BoxSteps(env)
        self.name, self.own_limit = self._steps.name, self._steps.own_limit
        if identity is None:
            with for_learning():
                identity = f"environment {self.name} {fingerprint((env,))}"
        self.identity = identity
        self.observations, self.actions = self._steps.observations, self._steps.actions

    def begin(self, seed: int, start: Any) -> Any:
        return self._steps.reset(seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        return self._steps.step(action)

    def shaped(self, action: Any) -> Any:
        return self._steps.shaped(action)

    def action_row(self, action: Any) -> NDArray[np.float64]:
        return self._steps.action_row(action)

    def row(self, observation: Any) -> NDArray[np.float64]:
        return self._steps.row(observation)


class _Arrays(EpisodeRunner):
    """A VectorSimulator, one state at a time."""

    starts_anywhere = True

    def __init__(self, simulator: VectorSimulator, identity: str | None) -> None:
        with for_learning():
            self._of = ArrayVectors(simulator, identity)
        self.name, self.identity, self.own_limit = self._of.name, self._of.identity, self._of.own_limit
        self.observations, self.actions = self._of.observations, self._of.actions

    def begin(self, seed: int, start: Any) -> Any:
        if start is None:
            return np.asarray(self._of.reset(seed))
        self._of.put(start, seed)
        return np.asarray(start, dtype=np.float64)

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        chosen = int(action) if isinstance(self.actions, int) else self.action_row(action)
        following, reward, ended, cut = self._of.step(chosen)
        if not np.isfinite(reward):
            raise SimulatorFailed(f"the reward is {reward}, but must be finite")
        return np.asarray(following), reward, ended, cut


class _Steps(EpisodeRunner):
    """A program, through hilo's protocol."""

    def __init__(self, program: Program) -> None:
        options = {k: v for k, v in program.options.items() if k not in HIGH_ONLY}
        self.name = program.command
        self.identity = _hilo.program_identity(options)
        self._program = _hilo.ProgramSteps(options)
        self.starts_anywhere = self._program.starts_anywhere
        self.observations = self._program.observations
        self.actions = self._program.actions

    def _shown(self, numbers: list[float]) -> Any:
        return int(numbers[0]) if isinstance(self.observations, int) else np.asarray(numbers)

    def begin(self, seed: int, start: Any) -> Any:
        self.over = False
        if start is None:
            return self._shown(self._program.reset(seed))
        numbers = [float(x) for x in np.asarray(start, dtype=np.float64).reshape(-1)]
        self.over = self._program.put(numbers, seed)
        return self._shown(numbers)

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        numbers = [float(x) for x in self.action_row(action)]
        seen, reward, ended, cut, cost = self._program.step(numbers)
        if cost is not None:
            self.cost = (self.cost or 0.0) + cost
        return self._shown(seen), reward, ended, cut


class _Function(EpisodeRunner):
    """A function step(state, action, rng), or a walker over a table of hilo's own."""

    def __init__(self, source: FunctionSource) -> None:
        self.name = str(getattr(source._step, "__name__", "function"))
        self.identity = source.identity
        self.observations, self.actions = source.num_states, source.num_actions
        self._source = source

    def begin(self, seed: int, start: Any) -> Any:
        return self._source.reset(seed)

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        state, reward, ended, cut = self._source.step(int(action))
        return state, reward, ended or state in self._source.terminal, cut


class _Table(EpisodeRunner):
    """A simulator of hilo's own."""

    def __init__(self, simulator: Simulator, name: str, identity: str | None) -> None:
        self.name = name
        self.observations, self.actions = simulator.num_states, simulator.num_actions
        self._walker = Walker(simulator)
        if identity is None:
            raise Error(
                f"{name} cannot be recognised when an evaluation is continued: pass "
                'hilo.wrap(simulator, identity="...")',
                Errc.usage,
            )
        self.identity = identity

    def begin(self, seed: int, start: Any) -> Any:
        self._walker.set_seed(seed)
        return self._walker.reset()

    def step(self, action: Any) -> tuple[Any, float, bool, bool]:
        state, reward, done = self._walker.step(int(action))
        return state, reward, done, False


def make_runner(thing: Any, role: str, options: dict[str, Any] | None = None) -> EpisodeRunner:
    """A simulator for an evaluation: whatever hilo.learn takes, in its own spaces, without grids."""
    options = dict(options or {})
    identity = options.get("identity")
    thing = resolve(thing)
    if isinstance(thing, Wrapped):
        return make_runner(thing.thing, role, thing.options)
    if isinstance(thing, VectorSimulator):
        return _Arrays(thing, identity)
    if isinstance(thing, Program):
        return _Steps(thing)
    if isinstance(thing, Problem):
        known = f"problem {thing.kind} {dict(thing.parameters)!r} {role}" if hasattr(thing, "parameters") else None
        simulator = thing.high if role == "high" else thing.low
        return _Table(simulator, f"{thing.kind}, {role}", identity or known)
    if isinstance(thing, TabularMdp):
        return _Table(_hilo.make_simulator(thing), "table", identity)
    if isinstance(thing, Simulator):
        return _Table(thing, type(thing).__name__, identity)
    if is_environment(thing):
        return _Environment(thing, identity)
    if callable(thing):
        with for_learning():
            known_options = {k: v for k, v in options.items() if k in inspect.signature(FunctionSource).parameters}
            missing = [key for key in ("states", "actions", "start") if key not in known_options]
            if missing:
                raise Error(
                    f"{thing!r} is taken as step(state, action, rng), which needs {', '.join(missing)}: "
                    "pass hilo.wrap(step, states=..., actions=..., start=...)",
                    Errc.usage,
                )
            return _Function(FunctionSource(thing, **known_options))
    raise no_simulator(thing)


class EvaluatedPolicy:
    """A policy of any origin: calls to ``begin`` and ``act`` for one simulator."""

    def __init__(self, given: Any) -> None:
        self.given = given
        self.identity = ""
        self._steps: dict[int, _hilo.PolicySteps] = {}
        self._network: NetworkPolicy | None = None
        if isinstance(given, (str, os.PathLike)):
            self._kind = "program" if str(given).startswith("command:") else "file"
            if self._kind == "file" and (text := _network_text(given)) is not None:
                self._kind = "network"
                try:
                    self._network = NetworkPolicy(text, "file", 0)
                except Error as e:  # the engine was given no name
                    raise Error(str(e).replace("the policy", str(given), 1), e.code) from None
        elif isinstance(given, NetworkPolicy):
            self._kind, self._network = "network", given
        elif hasattr(given, "predict") and callable(given.predict):
            self._kind = "model"
            self.identity = f"model {fingerprint(_parameters_of(given))}"
        elif callable(given):
            self._kind = "random" if required_arguments(given) > 1 else "function"
            self.identity = f"function {fingerprint(given)}"
        else:
            raise Error(
                f"{given!r:.200} is no policy: give a function of an observation, an object with predict (such as "
                "a stable-baselines3 model), a policy file of hilo, or 'command: PROGRAM'",
                Errc.usage,
            )

    def bind(self, runner: EpisodeRunner, number: int) -> None:
        """Prepares for one of the simulators, the expensive one first."""
        if self._kind not in ("program", "file", "network"):
            return
        if runner.observations is None or runner.actions is None:
            raise Error(
                f"{self.given!r} is a policy for numbers, but the spaces of {runner.name} are not boxes or numbered "
                "from 0",
                Errc.usage,
            )
        if self._network is not None:
            what = str(self.given) if isinstance(self.given, (str, os.PathLike)) else "the policy"
            require_fit(self._network, what, runner.name, runner.observations, runner.actions)
            self.identity = identity_of(self._network)
        elif self._kind == "program":
            command = str(self.given)[len("command:") :].strip()
            self._steps[number] = _hilo.policy_program(command, runner.observations, runner.actions)
            self._steps[number].begin(0)  # it starts before anything is paid, and before time is measured
            self.identity = _hilo.program_identity({"command": command})
        else:
            self._steps[number], hashed = _hilo.policy_file(self.given, runner.observations, runner.actions)
            self.identity = f"table {hashed}"

    def actor(self, runner: EpisodeRunner, number: int, seed: int) -> Act:
        """The policy for one episode. Its own randomness is a function of the seed."""
        given = self.given
        if self._network is not None:
            return self._network_actor(runner, self._network)
        if self._kind == "model":
            return lambda observation: given.predict(observation, deterministic=True)[0]
        if self._kind == "function":
            return given  # type: ignore[no-any-return]
        if self._kind == "random":
            # The second half of the key keeps it apart from the simulator's draws.
            rng = np.random.Generator(np.random.Philox(key=(2 << 64) + seed))
            return lambda observation: given(observation, rng)
        steps = self._steps[number]
        steps.begin(seed)

        def act(observation: Any) -> Any:
            numbers = steps.act([float(x) for x in runner.row(observation)])
            return int(numbers[0]) if isinstance(runner.actions, int) else np.asarray(numbers)

        return act

    @staticmethod
    def _network_actor(runner: EpisodeRunner, network: NetworkPolicy) -> Act:
        return lambda observation: network(runner.row(observation))


def _network_text(file: str | os.PathLike[str]) -> str | None:
    """The text of a policy file that says that it is a network. All others are the engine's to judge."""
    try:
        text = Path(file).read_text()
        return text if json.loads(text)["kind"] == "network" else None
    except (OSError, ValueError, TypeError, LookupError, RecursionError):
        return None


def _parameters_of(model: Any) -> Any:
    """What decides what a model of a learning library does: its parameters as arrays."""
    get = getattr(model, "get_parameters", None)
    if get is None:
        return model

    def plain(thing: Any) -> Any:
        if isinstance(thing, dict):
            return {str(key): plain(value) for key, value in thing.items()}
        if isinstance(thing, (list, tuple)):
            return [plain(value) for value in thing]
        detach = getattr(thing, "detach", None)
        return np.asarray(detach().cpu()) if detach is not None else thing

    parameters = get()
    policy = {k: v for k, v in parameters.items() if k == "policy"} or parameters
    return plain(policy)


def names_of(policies: Any) -> dict[str, Any]:
    """Policies by name: a dict, a list, or one."""
    if isinstance(policies, dict):
        named = {str(key): value for key, value in policies.items()}
    elif isinstance(policies, Sequence) and not isinstance(policies, (str, bytes)):
        named = {}
        for number, given in enumerate(policies):
            name = str(given) if isinstance(given, (str, os.PathLike)) else getattr(given, "__name__", None)
            name = name if name is not None and name != "<lambda>" else f"policy {number + 1}"
            if name in named:
                raise Error(f"two policies have the name {name!r}: pass a dict of names", Errc.usage)
            named[name] = given
    else:
        named = {"policy": policies}
    if not named:
        raise Error("an evaluation needs a policy", Errc.usage)
    return named
