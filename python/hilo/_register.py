"""Registers hilo's environments with Gymnasium, if it is installed."""

from __future__ import annotations

_ENVIRONMENTS = {
    "hilo/RandomMDP-v0": "environments:RandomMdp",
    "hilo/NasBench201-v0": "environments:NasBench201",
    "hilo/Docking-v0": "environments:Docking",
    "hilo/Pendulum-v0": "control_environments:Pendulum",
    "hilo/CartPole-v0": "control_environments:CartPole",
    "hilo/Acrobot-v0": "control_environments:Acrobot",
}


def register() -> list[str]:
    """Registers the environments and returns their ids; none without Gymnasium."""
    try:
        from gymnasium.envs.registration import register as add
        from gymnasium.envs.registration import registry
    except ImportError:
        return []
    for name, stem in _ENVIRONMENTS.items():
        if name not in registry:
            is_table = stem.startswith("environments:")
            add(
                id=name,
                entry_point=f"hilo.{stem}Env",
                vector_entry_point=f"hilo.{stem}VectorEnv" if is_table else None,
            )
    return list(_ENVIRONMENTS)
