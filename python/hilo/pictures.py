"""Pictures of problems, as arrays of pixels."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ._hilo import Docking

_SIZE = 360  # pixels of a side
_WATER, _GRID, _DOCK, _VEHICLE = (235, 243, 250), (205, 220, 232), (0, 158, 115), (0, 0, 0)
_GOOD, _BAD = (0, 158, 115), (213, 94, 0)


def draw_docking(cells: int, speeds: int, state: int) -> NDArray[np.uint8]:
    """The square with its grid, the dock as a disc, the vehicle as a dot and its speed as a line.

    The frame is green once it has docked, orange once it is lost.
    """
    docking = Docking(cells, speeds)
    image = np.full((_SIZE, _SIZE, 3), _WATER, dtype=np.uint8)
    for i in range(1, cells):
        at = i * _SIZE // cells
        image[at, :] = _GRID
        image[:, at] = _GRID
    scale = _SIZE / docking.side
    rows, columns = np.mgrid[0:_SIZE, 0:_SIZE]
    x, y = (columns + 0.5) / scale, docking.side - (rows + 0.5) / scale  # y points up
    dock_x, dock_y, radius = docking.dock
    image[(x - dock_x) ** 2 + (y - dock_y) ** 2 <= radius**2] = _DOCK
    motion = docking.motion(state)
    if motion is not None:
        px, py, ux, uy = motion
        for along in np.linspace(0, 1, 60):
            near = (x - px - along * ux) ** 2 + (y - py - along * uy) ** 2 <= 0.06**2
            image[near] = _VEHICLE
        image[(x - px) ** 2 + (y - py) ** 2 <= 0.25**2] = _VEHICLE
    else:
        frame = _GOOD if state == docking.docked else _BAD
        image[:8], image[-8:], image[:, :8], image[:, -8:] = frame, frame, frame, frame
    return image
