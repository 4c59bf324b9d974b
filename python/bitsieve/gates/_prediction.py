"""How an estimator of this room predicts: a network built from stored arrays, batch by batch."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted, validate_data

from bitsieve.gates.device import check_device, n_threads, torch_for
from bitsieve.gates.problem import Scale

__all__ = ["NetworkPrediction"]

_BATCH = 4096  # samples predicted at a time


class NetworkPrediction:
    """What the network of a fitted estimator says of samples."""

    body: Callable[[int, int], torch.nn.Module] | None
    device: str
    n_jobs: int | None

    # Of a fit.
    support_: NDArray[np.bool_]
    gates_: NDArray[np.float64]
    _scale: Scale
    _narrow: bool
    _constant: NDArray[np.float64] | None
    _n_outputs: int
    _state: dict[str, NDArray[Any]]
    _architecture: Any

    def _outputs(self, X: Any) -> NDArray[Any]:
        """Return the outputs of the network, float64 of shape (n_samples, n_outputs)."""
        check_is_fitted(self, "support_")
        X = validate_data(self, X, reset=False, dtype=[np.float64, np.float32])
        if self._constant is not None:
            return np.tile(self._constant, (len(X), 1))
        kept = self.support_ if self._narrow else np.ones(X.shape[1], dtype=bool)
        # What learnt on a GPU predicts without one too.
        device = check_device("cpu" if self.device == "cpu" else "auto")
        scale = self._scale.of(kept)
        outputs = np.empty((len(X), self._n_outputs))
        with torch_for(device, n_threads(self.n_jobs)), torch.no_grad():
            # In float64 no output depends on the samples beside it; a user's module stays as it is.
            dtype = torch.float64 if self.body is None else torch.float32
            network = self._network(int(kept.sum())).to(device, dtype)
            z = torch.from_numpy(self.gates_[kept].astype(np.float32)).to(device, dtype)[None]
            for first in range(0, len(X), _BATCH):
                rows = slice(first, first + _BATCH)
                x = scale.apply(X[rows][:, kept]).to(device, dtype)
                outputs[rows] = network(x, z)[0].cpu().numpy()
        return outputs

    def _network(self, n_features: int) -> torch.nn.Module:
        """Build the network that predicts."""
        network: torch.nn.Module = self._architecture(self._n_outputs).build(n_features, 0)
        network.load_state_dict(
            {name: torch.from_numpy(np.array(value)) for name, value in self._state.items()}
        )
        network.eval()
        return network
