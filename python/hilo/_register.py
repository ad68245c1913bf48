"""Registers hilo's environments with Gymnasium, if it is installed."""

from __future__ import annotations

_ENVIRONMENTS = {
    "hilo/RandomMDP-v0": "RandomMdp",
    "hilo/NasBench201-v0": "NasBench201",
    "hilo/Docking-v0": "Docking",
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
            add(
                id=name,
                entry_point=f"hilo.environments:{stem}Env",
                vector_entry_point=f"hilo.environments:{stem}VectorEnv",
            )
    return list(_ENVIRONMENTS)
