"""Gates trained with a network: selectors that predict (``pip install "bitsieve[gates]"``).

::

    stg.py, cox.py, pefs.py    the estimators, on _base.py and, to predict, _prediction.py
        |-- problem.py      the samples of a fit, and trainings over them; holdout.py: validation
        |-- path.py         from many features to few, warm
        |-- training.py     the loop: epochs, limits, history; settings.py, state.py
        |     |-- learner.py              a step; step.py: of the standard case, without autograd
        |     |-- contract.py             what gates are: what multiplies features and learns
        |     |     |-- gate.py, bernoulli.py   with noise (noise.py); noiseless.py: without
        |     |-- network.py              the layers behind it
        |     |     |-- masked_product.py   its first layer, of open features alone
        |     |-- optimizer.py, lazy.py   what moves the weights
        |     |     |-- rows.py             those of the first layer when a feature opens
        |     |-- losses.py               one number for each draw
        |-- survival.py     times and events

Only this room knows torch. A name is loaded when it is first used.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

__all__ = ["PEFSClassifier", "PEFSRegressor", "STGClassifier", "STGCox", "STGRegressor"]

if TYPE_CHECKING:
    from bitsieve.gates.cox import STGCox
    from bitsieve.gates.pefs import PEFSClassifier, PEFSRegressor
    from bitsieve.gates.stg import STGClassifier, STGRegressor

_HOMES = {
    "PEFSClassifier": "bitsieve.gates.pefs",
    "PEFSRegressor": "bitsieve.gates.pefs",
    "STGClassifier": "bitsieve.gates.stg",
    "STGCox": "bitsieve.gates.cox",
    "STGRegressor": "bitsieve.gates.stg",
}


def __getattr__(name: str) -> Any:
    if name not in __all__:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        module = importlib.import_module(_HOMES[name])
    except ModuleNotFoundError as error:
        if error.name != "torch":
            raise
        raise ModuleNotFoundError(
            f'{name} needs torch: pip install "bitsieve[gates]"', name="torch"
        ) from error
    return getattr(module, name)


def __dir__() -> list[str]:
    return sorted(__all__)
