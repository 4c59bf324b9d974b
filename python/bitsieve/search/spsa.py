"""Binary SPSA: parameters, state and checks around the compiled search.

The recursion, its perturbations and its automatic gain are in ``cpp/src/search/spsa.cpp``; this
face turns what users say into numbers.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bitsieve import _core
from bitsieve._checks import check_flag, check_int, check_number
from bitsieve._checks import seed as check_seed
from bitsieve._random import SeedWords, Stream
from bitsieve.masks import Masks
from bitsieve.search.checks import check_parameters_of_state, check_told
from bitsieve.search.gains import Gain, difference_of, gain_of
from bitsieve.search.halving import Halving, mask_of
from bitsieve.search.presets import preset_of
from bitsieve.search.protocol import Scores, State
from bitsieve.search.starts import start_of, vector

__all__ = ["BinarySPSASearch"]

_LARGEST_POSITION = 1e150  # the core takes no iterate beyond
_MOST_ITERATIONS = 2**53


class BinarySPSASearch:
    """Binary simultaneous perturbation stochastic approximation.

    One ask is the iterate's mask R(w_k) and the two perturbed ones, R(w_k + c Delta_k) and
    R(w_k - c Delta_k), with Delta_k of random signs; R puts a feature in where the value is at
    least 0.5. One tell moves the iterate by ``a_k (s+ - s-) / (2 c) Delta_k``, towards the higher
    score, with ``a_k = a / (A + k + 1)**alpha`` and k from 0. The iterate itself is never clipped.

    Parameters
    ----------
    n_features : int
    seed : int
        Key of the perturbations, in [0, 2**64); :func:`bitsieve.search.run` sets it.
    preset : {"auto", "small", "large"}
        Column of Table 2 of [1]_ for the gain and the stability; "auto" is small below 100
        features.
    start : float, array-like or Masks, optional
        w_0: a number or a vector in [0, 1]; or a mask (boolean vector, or Masks of length 1), of
        which w_0 stands c / 2 above and below 0.5. Default 0.5 for all, as in [1]_; where the
        size is given, with a millionth of c on top that the seed draws, so that the first mask is
        a random one and not the first features.
    filter_scores : array-like of float, shape (n_features,), optional
        In place of ``start``: w_0 from the ranks of these scores, greater is better (see
        :func:`start_from_scores`), within c of 0.5.
    gain : {"auto", "paper", "half-difference"} or float
        a. "auto" is not of [1]_: a step is ``step_fraction * c * (s+ - s-) / m_k``, with m_k
        the root mean square of the recent differences s+ - s-. The steps then have one size,
        whatever the unit of the scores, and keep it while the differences shrink as features are
        decided; A and alpha have no part in it, and equal scores make no step. "paper" is the
        preset's. "half-difference" is the rule of [1]_ in words, a_0 (s+ - s-) / (2 c) =
        (s+ - s-) / 2, that is a = c (A + 1)**alpha.
    c : float
        Size of the perturbation, in (0, 0.5).
    A : float, optional
        Stability, at least 0; by default the preset's. [1]_ says a tenth of the iterations
        or more. Without effect where the gain is "auto".
    alpha : float
        Decay of the gain, at least 0. Without effect where the gain is "auto".
    step_fraction : float, optional
        See ``gain``; by default the preset's, 0.06 for small and 0.03 for large (see
        :class:`Preset`).
    n_averaged : int
        In ``m_k**2`` the newest squared difference has the weight 1 / n_averaged, and the older
        ones fade; the first n_averaged have equal weights. No step is longer than
        ``step_fraction * c * sqrt(n_averaged)``.
    n_features_to_select : int, optional
        Masks of exactly so many features: the largest of w, of w + c Delta and of w - c Delta,
        ties to the lowest index.
    admit_perturbed : bool
        Whether the perturbed masks may become the best so far; in [1]_ only iterates may.
    injected_noise : float
        Above 0, normal noise is added to every component of the iterate after each step, so that
        it may leave a local optimum [3]_: ``w += q_k omega_k`` with
        ``q_k = injected_noise * c / sqrt(j log(log(j)))`` and j = k + 3. It is the square root of
        the q of [3]_, in units of c.
    second_order : bool
        Adaptive SPSA of [4]_. Two more masks an ask, the perturbed ones perturbed once more by an
        independent Delta~ of the same size, give a rank-two estimate of the Hessian; the mean of
        all estimates H, made positive definite, turns the step into that of Newton's method, along
        H^-1 Delta. Up to 500 features H is full, and a multiple of the identity is added until a
        Cholesky factorisation exists; beyond, it is the diagonal, of which absolute values are
        taken and their root mean square is added. With ``gain="auto"`` H gives the direction
        alone, and steps have the size stated there. A number is the gain of [4]_, which has no
        unit (1 is Newton's); "paper" and "half-difference" are of first order and refused.
    halving_patience : int, optional
        Runs in sequence, as [1]_ proposes: after so many iterations without a new best iterate
        the search goes on with the features of that best alone, all at 0.5, so that about
        half of them are in a mask, and with new gains. The others are out for good. It stops
        after a run that was no better than the one before. By default there is one run. Not
        together with ``n_features_to_select``.
    stop_when_decided : bool
        Stop once no perturbation can change a mask. Off by default, as in [1]_, where the
        last mask is then measured until the stall limit.

    Raises
    ------
    ValueError
        If an argument is out of its range, or the start leaves nothing that the first
        perturbation could change.

    References
    ----------
    .. [1] V. Aksakalli, M. Malekipirbazari (2016), Feature selection via binary simultaneous
       perturbation stochastic approximation, Pattern Recognition Letters 75, 41-47: equations 2,
       3 and 5, Table 2.
    .. [2] J. C. Spall (1992), Multivariate stochastic approximation using a simultaneous
       perturbation gradient approximation, IEEE Transactions on Automatic Control 37, 332-341.
    .. [3] J. L. Maryak, D. C. Chin (2008), Global random optimization by simultaneous perturbation
       stochastic approximation, IEEE Transactions on Automatic Control 53, 780-783.
    .. [4] J. C. Spall (2000), Adaptive stochastic approximation by the simultaneous perturbation
       method, IEEE Transactions on Automatic Control 45, 1839-1853.

    Examples
    --------
    >>> import numpy as np
    >>> search = BinarySPSASearch(4, gain="paper", preset="small")
    >>> masks = search.ask()
    >>> masks.counts()[0]  # R(0.5) = 1: the first iterate is the full mask
    np.int64(4)
    >>> search.tell(masks, np.array([0.9, 0.88, 0.92]))
    >>> np.abs(search.w - 0.5).round(3)
    array([0.019, 0.019, 0.019, 0.019])
    """

    def __init__(
        self,
        n_features: int,
        *,
        seed: int = 0,
        preset: Literal["auto", "small", "large"] = "auto",
        start: ArrayLike | Masks | None = None,
        filter_scores: ArrayLike | None = None,
        gain: Gain = "auto",
        c: float = 0.05,
        A: float | None = None,
        alpha: float = 0.6,
        step_fraction: float | None = None,
        n_averaged: int = 20,
        n_features_to_select: int | None = None,
        admit_perturbed: bool = False,
        injected_noise: float = 0.0,
        second_order: bool = False,
        halving_patience: int | None = None,
        stop_when_decided: bool = False,
    ) -> None:
        self._n_features = check_int("n_features", n_features, 1)
        column = preset_of(preset, self._n_features)
        c = check_number("c", c, 0, 0.5)
        stability = check_number("A", column.stability if A is None else A, 0, closed="left")
        alpha = check_number("alpha", alpha, 0, closed="left")
        fraction = column.step_fraction if step_fraction is None else step_fraction
        step_fraction = check_number("step_fraction", fraction, 0)
        n_averaged = check_int("n_averaged", n_averaged, 1)
        n_select = 0
        if n_features_to_select is not None:
            n_select = check_int("n_features_to_select", n_features_to_select, 1)
            if n_select > self._n_features:
                raise ValueError(
                    f"n_features_to_select={n_select} is more than the {self._n_features} features"
                )
        a = gain_of(gain, column, c * (stability + 1.0) ** alpha)
        injected_noise = check_number("injected_noise", injected_noise, 0, closed="left")
        check_flag("second_order", second_order)
        if second_order and isinstance(gain, str) and gain != "auto":
            raise ValueError(
                f"gain={gain!r} is a step of first order; with second_order give 'auto' or a "
                "number, of which 1 is Newton's"
            )
        self._halving: Halving | None = None
        if halving_patience is not None:
            patience = check_int("halving_patience", halving_patience, 1, instead="or None")
            if n_select:
                raise ValueError(
                    "halving_patience finds the number of features by itself; leave it or "
                    "n_features_to_select out"
                )
            self._halving = Halving(self._n_features, patience)
        seed = check_seed("seed", seed)
        self._is_level = n_select > 0 and start is None and filter_scores is None
        self._core = _core.BinarySPSA(
            start_of(self._n_features, start, filter_scores, c),
            seed=seed,
            perturbation=c,
            stability=stability,
            decay=alpha,
            gain=np.nan if a is None else a,
            step_fraction=step_fraction,
            n_averaged=n_averaged,
            n_select=n_select,
            noise=injected_noise,
            second_order=second_order,
        )
        if n_select == 0 and self._core.is_decided():
            is_mask = set(self.w.tolist()) == {0.0, 1.0}
            hint = "; a mask must be boolean: give True and False" if is_mask else ""
            raise ValueError(
                f"no component of start is within {c} of 0.5, so no perturbation could change a "
                f"mask: bring the start nearer to 0.5, or raise c{hint}"
            )
        self._parameters: dict[str, float | int | str] = {
            "c": c,
            "A": stability,
            "alpha": alpha,
            "gain": "auto" if a is None else a,
            "step_fraction": step_fraction,
            "n_averaged": n_averaged,
            "n_select": n_select,
            "admit_perturbed": int(bool(admit_perturbed)),
            "injected_noise": injected_noise,
            "second_order": int(second_order),
            "halving_patience": halving_patience or 0,
            "stop_when_decided": int(bool(stop_when_decided)),
        }
        self._asked: Masks | None = None
        self._n_asked = 5 if second_order else 3
        self._eligible = np.array([True] + [bool(admit_perturbed)] * (self._n_asked - 1))
        self._eligible.setflags(write=False)
        self._break_ties(seed)

    @property
    def n_features(self) -> int:
        """Number of features p."""
        return self._n_features

    @property
    def w(self) -> NDArray[np.float64]:
        """A copy of the iterate w_k, float64 of shape (n_features,)."""
        position: NDArray[np.float64] = self._core.state()[0]
        return position

    @property
    def gain(self) -> float:
        """The gain a; if automatic, a_k of the last step, and NaN before the first."""
        gain = self._parameters["gain"]
        if not isinstance(gain, str):
            return gain
        mean_square = self._core.state()[2]
        if mean_square == 0.0:
            return float("nan")
        c, fraction = float(self._parameters["c"]), float(self._parameters["step_fraction"])
        return float(2.0 * c * c * fraction / np.sqrt(mean_square))

    def set_seed(self, seed: int) -> None:
        """Take the key of the perturbations, in [0, 2**64)."""
        self._core.set_seed(check_seed("seed", seed))
        self._break_ties(seed)
        self._asked = None

    @property
    def _is_second(self) -> bool:
        return self._n_asked == 5

    def _break_ties(self, seed: int) -> None:
        """Start a search of a given size from a random mask: equal w would mean the first ones."""
        if not self._is_level or self._core.state()[1] != 0:
            return
        words = SeedWords(seed, Stream.start).take(0, self._n_features)
        drawn = (words >> np.uint64(11)).astype(np.float64) / 2.0**53
        w = 0.5 + 1e-6 * float(self._parameters["c"]) * (drawn - 0.5)
        self._core.set_state(w, iteration=0, mean_square=0.0)

    def ask(self) -> Masks:
        """Return the iterate's mask and the perturbed ones: three, or five of second order."""
        # The core answers whole words with clean tails: nothing to check or to copy.
        words = self._core.ask()
        words.setflags(write=False)
        self._asked = Masks._make(self._n_features, words)
        return self._asked

    def tell(self, masks: Masks, scores: Scores) -> None:
        """Move the iterate by the scores of the last ask, float64, one a mask."""
        asked = self._asked
        scores = check_told(asked, masks, scores)
        assert asked is not None
        plus, minus = float(scores[1]), float(scores[2])
        second = (
            difference_of(scores[3] - scores[1], scores[4] - scores[2]) if self._is_second else 0.0
        )
        difference = difference_of(plus, minus)
        halving = self._halving
        try:
            self._core.tell(plus, minus, second)
        except ValueError:
            raise ValueError(
                f"gain {self.gain:.6g} and scores that differ by {difference:.6g} "
                "make a step that no search can take; lower the gain"
            ) from None
        self._asked = None
        live = None if halving is None else halving.take(asked[0], float(scores[0]))
        if live is not None:
            self._core.restart(live.words[0])

    def feature_scores(self) -> NDArray[np.float64]:
        """Return the mean iterate, float64 of shape (n_features,), greater for better features.

        The mean of w_1 to w_k, which moves less than the last of them; the start before the first
        iteration.
        """
        iteration = int(self._core.state()[1])
        return self._core.total() / iteration if iteration else self.w

    def stop(self) -> dict[str, object]:
        """Return ``{"decided": True}`` once no mask can change, if the search is to stop then.

        Of runs in sequence also ``{"halving": number of runs}`` after the last.
        """
        if self._halving is not None and self._halving.has_ended:
            return {"halving": self._halving.n_runs}
        if self._parameters["stop_when_decided"] and self._core.is_decided():
            return {"decided": True}
        return {}

    @property
    def stops_itself(self) -> bool:
        """Whether :meth:`stop` may ever answer."""
        return bool(self._parameters["stop_when_decided"]) or self._halving is not None

    def eligible(self) -> NDArray[np.bool_]:
        """Return which masks of an ask may become the best: the iterate, or all."""
        return self._eligible

    def state(self) -> State:
        """Return the parameters, the seed, w, its sum, k, and the gain's mean square.

        Of second order also the mean Hessian, and of runs in sequence where they are.
        """
        w, iteration, mean_square = self._core.state()
        more: State = {"hessian": self._core.curvature()} if self._is_second else {}
        if self._halving is not None:
            more |= {"began": self._core.began, "live": self._core.live(), **self._halving.state()}
        return {
            **self._parameters,
            "seed": self._core.seed,
            "w": w,
            "w_total": self._core.total(),
            "iteration": iteration,
            "mean_square": mean_square,
            **more,
        }

    def set_state(self, state: Mapping[str, Any]) -> None:
        """Go on from a state of a search with the same parameters.

        Raises
        ------
        ValueError
            If an entry is missing, a parameter differs, or a number is none that a search gets to.
        """
        own = self.state()
        check_parameters_of_state(own, self._parameters, state)
        seed = check_seed("seed", state["seed"])
        iteration = check_int("iteration", state["iteration"], 0)
        if iteration >= _MOST_ITERATIONS:
            raise ValueError(f"iteration must lie in [0, 2**53), got {iteration}")
        w = vector("w", state["w"], self._n_features)
        total = vector("w_total", state["w_total"], self._n_features)
        if np.abs(total).max() > _LARGEST_POSITION * iteration:
            raise ValueError(
                f"w_total must be a sum of the {iteration} iterates told, each 1e150 at most, got "
                f"{total[np.abs(total).argmax()]:g}"
            )
        mean_square = check_number("mean_square", state["mean_square"], 0, closed="left")
        hessian = began = None
        if self._is_second:
            size = len(own["hessian"])  # type: ignore[arg-type]
            hessian = vector("hessian", state["hessian"], size)
        if self._halving is not None:
            began = check_int("began", state["began"], 0)
            live = mask_of("live", state["live"], self._n_features)
            self._halving.set_state(state, live)
            self._core.set_live(live.words[0])
        self._core.set_state(w, iteration=iteration, mean_square=mean_square, began=began or 0)
        if hessian is not None:
            self._core.set_curvature(hessian)
        self._core.set_seed(seed)
        self._core.set_total(total)
        self._asked = None

    def __repr__(self) -> str:
        state = self._core.state()
        return f"<BinarySPSASearch: {self._n_features} features, iteration {state[1]}>"
