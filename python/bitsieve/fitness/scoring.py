"""From out-of-fold outputs to a scorer's number.

::

    scoring --> compiled_score --> Score: the core makes it of a model's outputs
                     |               \\ NaN: scikit-learn refuses it, or calls it undefined
                     | None           v
                     +---------> OutputScorer: scikit-learn's own scorer on the same outputs

Either way a score is that of ``scorer(estimator, X_test, y_test)``. Sample weights are never given
to scores.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Collection
from dataclasses import dataclass
from functools import cache
from numbers import Real
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray
from sklearn import metrics
from sklearn.base import ClassifierMixin, RegressorMixin, is_classifier
from sklearn.dummy import DummyClassifier
from sklearn.utils.multiclass import type_of_target

from bitsieve import _core
from bitsieve.data import Table
from bitsieve.fitness.metrics import balanced_error_rate, mean_cost
from bitsieve.fitness.pipelines import parts_of

__all__ = ["READS", "Reads", "compiled_score", "refusal_of_scoring", "response_of"]

#: What a score reads of a model.
Reads: TypeAlias = Literal["classes", "probabilities", "decisions", "numbers"]

_Options: TypeAlias = dict[str, Any]

_ANY = ("micro", "macro", "weighted", "samples", None)  # averages

_SCORER = type(metrics.make_scorer(metrics.accuracy_score))
#: What each method of an estimator gives to read.
READS: dict[str, Reads] = {
    "predict": "classes",
    "predict_proba": "probabilities",
    "decision_function": "decisions",
}


def refusal_of_scoring(
    estimator: Any, scoring: Any, gives: Collection[Reads] | None = None
) -> str | None:
    """Return why a score cannot be made of a kernel's outputs alone, or None if it can.

    Parameters
    ----------
    estimator : scikit-learn estimator
    scoring : str, callable or None
    gives : collection of {"classes", "probabilities", "decisions", "numbers"}, optional
        What the kernel gives scorers to read; by default all that the estimator answers.

    Returns
    -------
    str or None
        A callable of the user's own may look at the estimator or at the columns of X, and so may
        an estimator's own ``score``.

    Examples
    --------
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> refusal_of_scoring(KNeighborsClassifier(), "roc_auc")
    >>> refusal_of_scoring(KNeighborsClassifier(), lambda estimator, X, y: 0.5)
    'a scoring function of your own has no kernel'
    >>> refusal_of_scoring(KNeighborsClassifier(), "roc_auc", gives=("classes",))
    "'roc_auc' asks for predict_proba, which has no kernel"
    """
    if scoring is None:
        if _own_metric(estimator) is None:
            return f"the score method of {type(estimator).__name__} has no kernel"
        return None
    scorer = metrics.check_scoring(estimator, scoring=scoring)
    if type(scorer) is not _SCORER:
        return "a scoring function of your own has no kernel"
    response = response_of(estimator, scorer)
    if response is None:
        return "a scorer that asks for what the model does not answer has no kernel"
    reads = READS[response] if is_classifier(estimator) else "numbers"
    if gives is not None and reads not in gives:
        name = repr(scoring) if isinstance(scoring, str) else "a scorer"
        return f"{name} asks for {response}, which has no kernel"
    return None


def compiled_score(estimator: Any, scoring: Any, table: Table) -> _core.Score | None:
    """Return the core's score that equals a scikit-learn scorer, or None where there is none.

    Parameters
    ----------
    estimator : scikit-learn estimator
        Need not be fitted: its methods say whether a scorer reads probabilities or decisions.
    scoring : str, callable or None
        A name, a scorer of :func:`sklearn.metrics.make_scorer` with any options that the core
        knows, or None for the estimator's own score.
    table : Table
        Its target decides what a class is called and how many there are.

    Returns
    -------
    Score or None

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.metrics import fbeta_score, make_scorer
    >>> from sklearn.neighbors import KNeighborsClassifier
    >>> from bitsieve.data import Table
    >>> table = Table(*load_iris(return_X_y=True))
    >>> compiled_score(KNeighborsClassifier(), "roc_auc_ovr", table)
    <Score roc_auc of probabilities>
    >>> compiled_score(KNeighborsClassifier(), "neg_log_loss", table)
    <Score -log_loss of probabilities>
    >>> scoring = make_scorer(fbeta_score, beta=2, average="weighted")
    >>> compiled_score(KNeighborsClassifier(), scoring, table)
    <Score f_score of classes>
    >>> compiled_score(KNeighborsClassifier(), "top_k_accuracy", table)
    """
    if scoring is None:
        own = _own_metric(estimator)
        if own is None or (own == "accuracy") != (table.codes is not None):
            return None
        return _core.Score(own, reads="classes" if own == "accuracy" else "numbers")
    scorer = metrics.check_scoring(estimator, scoring=scoring)
    if type(scorer) is not _SCORER:
        return None
    function = scorer._score_func
    # Other callables need not hash.
    rule = _RULES.get(function) if inspect.isfunction(function) else None
    response = response_of(estimator, scorer)
    if rule is None or response is None:
        return None
    if (rule.make is _numbers) != (table.codes is None):
        return None
    options = _options(scorer, rule)
    if options is None:
        return None
    asked = _Asked(options, response, table.classes)
    made = rule.make(asked) if response in rule.responses and asked.is_valid() else None
    if made is None:
        return None
    reads: str = "numbers" if table.codes is None else READS[response]
    # Where pos_label is no class that was trained on, scikit-learn refuses to predict.
    if reads == "classes" and asked.label is not None:
        made["needs_trained"] = True
    return _core.Score(rule.metric, reads=reads, sign=float(scorer._sign), **made)


def _own_metric(estimator: Any) -> str | None:
    """Return the metric of an estimator's ``score``, None where it is its own."""
    estimator = parts_of(estimator).model  # a pipeline's is that of its last step
    owner = next((kind for kind in type(estimator).__mro__ if "score" in vars(kind)), None)
    if owner is ClassifierMixin:
        return "accuracy"
    if owner is RegressorMixin:
        return "r2"
    # These repeat the docstring alone.
    if owner is not None and owner.__module__ == "sklearn.neighbors._classification":
        return "accuracy"
    return None


def response_of(estimator: Any, scorer: Any) -> str | None:
    """Return the method that a scorer asks an estimator for, None where it has none of them."""
    names = scorer._response_method
    for name in (names,) if isinstance(names, str) else names:
        if name in READS and hasattr(estimator, name):
            return str(name)
    return None


def _options(scorer: Any, rule: _Rule) -> _Options | None:
    """Return the options of a scorer's function, or None where the core does not know them all."""
    parameters = inspect.signature(scorer._score_func).parameters
    options = {name: parameters[name].default for name in rule.options if name in parameters}
    for name, value in scorer._kwargs.items():
        if name not in options:
            return None
        options[name] = value
    required = any(value is inspect.Parameter.empty for value in options.values())
    return None if required else options


@dataclass(frozen=True)
class _Asked:
    """A scorer's options beside the classes of a target."""

    options: _Options
    response: str
    classes: NDArray[Any] | None

    @property
    def label(self) -> Any:
        """What scikit-learn takes for the positive class when it asks an estimator."""
        return self.options.get("pos_label")

    @property
    def n_classes(self) -> int:
        return 0 if self.classes is None else len(self.classes)

    def is_valid(self) -> bool:
        if self.classes is None:
            return True
        if type_of_target(self.classes) not in ("binary", "multiclass"):
            return False
        if self.label is None or self.code(self.label) is not None:
            return True
        return self.n_classes > 2 and _ignores_label_of_many()

    def code(self, label: Any) -> int | None:
        assert self.classes is not None
        found = [k for k, each in enumerate(self.classes.tolist()) if each == label]
        return found[0] if len(found) == 1 else None

    def codes(self, labels: Any) -> NDArray[np.int32] | None:
        """Return the classes that labels name, each once, or None where some is no class."""
        if np.ndim(labels) != 1 or len(labels) == 0:
            return None
        codes = [self.code(label) for label in np.asarray(labels).tolist()]
        if any(code is None for code in codes) or len(set(codes)) != len(codes):
            return None
        return np.array(codes, dtype=np.int32)

    def names_all(self, labels: Any) -> bool:
        """Tell whether labels are all the classes, in order."""
        codes = self.codes(labels)
        return codes is not None and codes.tolist() == list(range(self.n_classes))


@cache
def _ignores_label_of_many() -> bool:
    """Tell whether a scorer minds no pos_label where it finds three classes; this has changed."""
    y = np.array(["a", "b", "c"])
    model = DummyClassifier(strategy="prior").fit(np.zeros((3, 1)), y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            metrics.make_scorer(metrics.f1_score, average="macro")(model, np.zeros((3, 1)), y)
        except ValueError:
            return False
    return True


def _is_flag(value: Any) -> bool:
    return isinstance(value, (bool, np.bool_))  # scikit-learn refuses what is only true or false


def _is_one_of(value: Any, known: tuple[str | None, ...]) -> bool:
    return (value is None or isinstance(value, str)) and value in known


def _accuracy(asked: _Asked) -> _Options | None:
    normalize = asked.options["normalize"]
    return {"normalize": bool(normalize)} if _is_flag(normalize) else None


def _balanced(asked: _Asked) -> _Options | None:
    adjusted = asked.options.get("adjusted", False)
    return {"adjusted": bool(adjusted)} if _is_flag(adjusted) else None


def _matthews(asked: _Asked) -> _Options | None:
    return {}


def _set_measure(asked: _Asked) -> _Options | None:
    options = asked.options
    made: _Options = {}
    average, zero, labels = options["average"], options["zero_division"], options["labels"]
    if average == "binary":
        if asked.n_classes != 2 or asked.label is None:
            return None
        made["positive"] = asked.code(asked.label)
    elif average not in ("micro", "macro", "weighted"):
        return None
    elif labels is not None:
        made["labels"] = asked.codes(labels)
        if made["labels"] is None:
            return None
    if isinstance(zero, str):
        if zero != "warn":
            return None
        zero = 0.0
    beta = options.get("beta", 1.0)
    if not isinstance(zero, Real) or not (zero in (0, 1) or zero != zero):
        return None
    if not isinstance(beta, Real):
        return None
    return made | {"average": average, "zero_division": float(zero), "beta": float(beta)}


def _kappa(asked: _Asked) -> _Options | None:
    weights, labels = asked.options["weights"], asked.options["labels"]
    if not _is_one_of(weights, (None, "linear", "quadratic")):
        return None
    made: _Options = {"weights": weights or "none"}
    if labels is not None:
        made["labels"] = asked.codes(labels)
        if made["labels"] is None:
            return None
    return made  # replace_undefined_by: the score is NaN then, and scikit-learn is asked


def _cost(asked: _Asked) -> _Options | None:
    codes = asked.codes(asked.options["labels"])
    costs = np.asarray(asked.options["costs"], dtype=np.float64)
    if codes is None or len(codes) != asked.n_classes or costs.shape != (len(codes),) * 2:
        return None
    ordered = np.empty_like(costs)
    ordered[np.ix_(codes, codes)] = costs
    return {"costs": ordered}


def _roc_auc(asked: _Asked) -> _Options | None:
    options = asked.options
    average, multi_class, labels = options["average"], options["multi_class"], options["labels"]
    if options["max_fpr"] not in (None, 1):
        return None
    if asked.n_classes == 2:  # averages of one curve
        is_known = _is_one_of(average, _ANY) and _is_one_of(multi_class, ("raise", "ovr", "ovo"))
        return {"needs_tested": True} if is_known else None
    if labels is not None and not asked.names_all(labels):
        return None
    allowed = {"ovr": ("micro", "macro", "weighted"), "ovo": ("macro", "weighted")}
    if asked.n_classes < 3 or average not in allowed.get(multi_class, ()):
        return None
    return {"needs_tested": True, "average": average, "one_vs_one": multi_class == "ovo"}


def _average_precision(asked: _Asked) -> _Options | None:
    average = asked.options["average"]
    if asked.n_classes == 2:
        is_known = asked.label is not None and _is_one_of(average, _ANY)
        return {"positive": asked.code(asked.label)} if is_known else None
    if asked.n_classes < 3 or asked.label != 1 or average not in ("micro", "macro", "weighted"):
        return None
    return {"needs_tested": True, "average": average}


def _log_loss(asked: _Asked) -> _Options | None:
    labels = asked.options["labels"]
    normalize = asked.options["normalize"]
    if asked.n_classes < 2 or (labels is not None and not asked.names_all(labels)):
        return None
    if not _is_flag(normalize):
        return None
    return {"needs_tested": labels is None, "normalize": bool(normalize)}


def _brier(asked: _Asked) -> _Options | None:
    assert asked.classes is not None
    options = asked.options
    made: _Options = {}
    half = options.get("scale_by_half", "auto")
    if not isinstance(half, (bool, np.bool_)) and half != "auto":
        return None
    if asked.n_classes == 2:
        made["scale"] = 1.0 if half else 2.0  # "auto" halves
        if asked.label is not None:
            return made | {"positive": asked.code(asked.label)}
        if asked.classes.dtype.kind in "OUS":  # which is positive, scikit-learn asks to be told
            return None
        return made | {"needs_tested": True}
    # Three classes or more have a Brier score since scikit-learn 1.7.
    if asked.n_classes < 3 or asked.label is not None or "labels" not in options:
        return None
    labels = options["labels"]
    if labels is not None and not asked.names_all(labels):
        return None
    return {"needs_tested": labels is None, "scale": 0.5 if half is True else 1.0}


def _numbers(asked: _Asked) -> _Options | None:
    uniform = asked.options.get("multioutput", "uniform_average")
    return {} if isinstance(uniform, str) and uniform == "uniform_average" else None


@dataclass(frozen=True)
class _Rule:
    """A function of scikit-learn and the metric that it is, with the options that are honoured."""

    metric: str
    make: Callable[[_Asked], _Options | None]
    options: tuple[str, ...] = ()
    responses: tuple[str, ...] = ("predict",)


_SETS = ("labels", "pos_label", "average", "zero_division")
_RANKS = ("decision_function", "predict_proba")
_RULES: dict[Callable[..., Any], _Rule] = {
    metrics.accuracy_score: _Rule("accuracy", _accuracy, ("normalize",)),
    metrics.balanced_accuracy_score: _Rule("balanced_accuracy", _balanced, ("adjusted",)),
    balanced_error_rate: _Rule("balanced_error", _balanced),
    metrics.precision_score: _Rule("precision", _set_measure, _SETS),
    metrics.recall_score: _Rule("recall", _set_measure, _SETS),
    metrics.f1_score: _Rule("f_score", _set_measure, _SETS),
    metrics.fbeta_score: _Rule("f_score", _set_measure, (*_SETS, "beta")),
    metrics.jaccard_score: _Rule("jaccard", _set_measure, _SETS),
    metrics.matthews_corrcoef: _Rule("matthews", _matthews),
    metrics.cohen_kappa_score: _Rule(
        "kappa", _kappa, ("labels", "weights", "replace_undefined_by")
    ),
    mean_cost: _Rule("cost", _cost, ("costs", "labels")),
    metrics.roc_auc_score: _Rule(
        "roc_auc", _roc_auc, ("average", "max_fpr", "multi_class", "labels"), _RANKS
    ),
    metrics.average_precision_score: _Rule(
        "average_precision", _average_precision, ("average", "pos_label"), _RANKS
    ),
    metrics.log_loss: _Rule("log_loss", _log_loss, ("normalize", "labels"), ("predict_proba",)),
    metrics.brier_score_loss: _Rule(
        "brier", _brier, ("pos_label", "labels", "scale_by_half"), ("predict_proba",)
    ),
    metrics.r2_score: _Rule("r2", _numbers, ("multioutput", "force_finite")),
    metrics.explained_variance_score: _Rule(
        "explained_variance", _numbers, ("multioutput", "force_finite")
    ),
    metrics.mean_squared_error: _Rule("mean_squared_error", _numbers, ("multioutput",)),
    metrics.root_mean_squared_error: _Rule("root_mean_squared_error", _numbers, ("multioutput",)),
    metrics.mean_absolute_error: _Rule("mean_absolute_error", _numbers, ("multioutput",)),
    metrics.median_absolute_error: _Rule("median_absolute_error", _numbers, ("multioutput",)),
    metrics.max_error: _Rule("max_error", _numbers),
}
