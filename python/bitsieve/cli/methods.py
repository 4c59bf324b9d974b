"""The methods of ``bitsieve select``, as a table, and which options belong to which of them.

**To add a method** add an entry of :data:`METHODS`, a :class:`Method`. ``job.py`` runs whatever it
names: any selector on ``selectors/_base.py``, or one with the same fitted attributes. An option
that no method has yet is a type of ``select_options.py``, a parameter of ``select`` in
``__init__.py`` and a line of its ``typed``; here it stands in the ``options`` of the methods that
take it, and where it can be mistaken for theirs in the ``instead`` of others.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from bitsieve._errors import closest

__all__ = ["KNOWN", "METHODS", "SEARCHING", "TRAINED", "Method", "joined", "method_by_name"]


@dataclass(frozen=True, kw_only=True)
class Method:
    """One method of the command.

    Attributes
    ----------
    name : str
        As ``--method`` takes it, in lower case.
    does : str
        What it does, after its name in ``--help``.
    options : mapping of str to str
        Its options, without dashes, and the parameter of the selector that each of them is; ""
        for one that the job itself honours. :data:`SEARCHES` are those of every search.
    selector : str or None
        Class of the package, such as "BinarySPSA"; None where ``select`` has a job of its own.
    aliases : tuple of str
        Other names, in lower case.
    defaults : mapping of str to object
        What an option is that was not typed, of ``options`` and of ``cv``, ``repeats`` and
        ``scoring``, which all have; without a default the constructor's own counts.
    settings : mapping of str to object
        Further parameters of the selector.
    starts : tuple of str
        Words that ``--start`` takes besides the names of filters.
    predicts : bool
        Whether it is a predictor itself, which is trained rather than searches: it has no estimator
        and no inner folds, so that ``--cv`` and ``--repeats`` are refused.
    is_fresh : bool
        Whether it draws new inner folds as it goes, rather than keep one set of them.
    has_range : bool
        Whether ``--n-features`` may be a range, which is then a pair for the selector.
    adapt : callable or None
        Gets the parameters of the selector as a dict and returns those that it is made with, for
        what their names alone do not tell.
    instead : mapping of str to str
        Options of other methods, and what to do about them with this one, in words.
    """

    name: str
    does: str
    options: Mapping[str, str]
    selector: str | None = None
    aliases: tuple[str, ...] = ()
    defaults: Mapping[str, object] = field(default_factory=dict)
    settings: Mapping[str, object] = field(default_factory=dict)
    starts: tuple[str, ...] = ()
    predicts: bool = False
    is_fresh: bool = False
    has_range: bool = False
    adapt: Callable[[dict[str, Any]], dict[str, Any]] | None = None
    instead: Mapping[str, str] = field(default_factory=dict)

    @property
    def of_all(self) -> Mapping[str, str]:
        """Options that it has without naming them, and the parameters that they are."""
        return {"scoring": ""} if self.predicts else _OF_ALL

    @property
    def names(self) -> tuple[str, ...]:
        """Its name and its aliases."""
        return (self.name, *self.aliases)

    def refuse_others(self, typed: Mapping[str, object]) -> None:
        """Refuse an option that other methods have and this one has not.

        Parameters
        ----------
        typed : mapping of str to object
            Options without their dashes; None and False are those that were not typed.

        Raises
        ------
        ValueError
            It names the option, and what does the same here.

        Examples
        --------
        >>> auto = method_by_name("auto")
        >>> auto.refuse_others({"max-iter": None, "patience": None})
        >>> auto.refuse_others({"max-iter": 3})
        Traceback (most recent call last):
            ...
        ValueError: --max-iter is no option of --method auto (--quick, --thorough and \
--time say how much is compared): leave it out, or give --method bspsa, sls or pefs
        """
        for option, value in typed.items():
            if value is None or value is False or option in self.options:
                continue
            owners = [method.name for method in METHODS if option in method.options]
            if not owners and (option in self.of_all or option not in _OF_ALL):
                continue
            owners = owners or [method.name for method in METHODS if option in method.of_all]
            hint = f" ({self.instead[option]})" if self.instead.get(option) else ""
            of = (
                f"an option of --method {owners[0]} alone"
                if len(owners) == 1
                else f"no option of --method {self.name}"
            )
            raise ValueError(
                f"--{option} is {of}{hint}: leave it out, or give --method {joined(owners)}"
            )

    def check_start(self, text: str | None) -> None:
        """Refuse what ``--start`` does not take here; files are looked at later.

        Raises
        ------
        ValueError
            Where it is neither a filter, nor one of ``starts``, nor @FILE.

        Examples
        --------
        >>> method_by_name("bspsa").check_start("relieff")
        """
        if text is None or text.startswith("@") or text in self.starts:
            return
        from bitsieve.filters.named import FILTERS, filter_by_name

        try:
            filter_by_name(text)
        except ValueError:
            known = [*self.starts, *FILTERS]
            raise ValueError(
                f"--start {text} is no start of --method {self.name}, no filter and no @FILE: "
                f"{closest(text, known)}"
            ) from None

    def chosen(self, typed: Mapping[str, Any], *, shuffle: bool = True) -> dict[str, Any]:
        """Return what its options are: as typed, else its defaults, else None.

        Parameters
        ----------
        typed : mapping of str to object
            Options of any method, None where they were not typed.
        shuffle : bool, default True
            False where inner folds that are kept stay in the order of the samples.

        Raises
        ------
        ValueError
            For repeats of folds that are not shuffled.

        Examples
        --------
        >>> method_by_name("bspsa").chosen({"scale": None, "max-iter": 5})["scale"]
        'standard'
        >>> [method_by_name("fixed").chosen({}, shuffle=one)["repeats"] for one in (True, False)]
        [5, 1]
        """
        found: dict[str, Any] = {}
        if not shuffle and not self.is_fresh and not self.predicts:
            if (typed.get("repeats") or 1) > 1:
                raise ValueError(
                    f"--repeats {typed['repeats']} repeats inner folds, which are all the same "
                    "with --no-shuffle: leave one of them out"
                )
            typed = {**typed, "repeats": 1}
        for option in (*self.options, *self.of_all):
            value = typed.get(option)
            found[option] = self.defaults.get(option) if value is None else value
        return found

    def make(
        self, chosen: Mapping[str, Any], *, folds_from: int | None = None, **surroundings: Any
    ) -> Any:
        """Return the unfitted selector.

        Parameters
        ----------
        chosen : mapping of str to object
            Of :meth:`chosen`; what is None is left to the constructor.
        folds_from : int or None, default None
            The seed that inner folds which are kept are shuffled from; None leaves them in the
            order of the samples.
        **surroundings
            Parameters that are no options of a method, such as ``random_state``.

        Raises
        ------
        ValueError
            For an unknown estimator.
        ImportError
            Where the package that it needs is missing.
        """
        import bitsieve

        assert self.selector is not None
        parameters: dict[str, Any] = {**self.settings, **surroundings}
        for option, parameter in {**self.options, **self.of_all}.items():
            value = chosen.get(option)
            if parameter and value is not None:
                convert = _MEANING.get(option)
                parameters[parameter] = value if convert is None else convert(value)
        if self.adapt is not None:
            parameters = self.adapt(parameters)
        if folds_from is not None and not self.is_fresh and not self.predicts:
            from bitsieve.fitness import ShuffledFolds

            n_repeats = parameters.get("n_repeats", 1)
            parameters["cv"] = ShuffledFolds(parameters["cv"], n_repeats, folds_from)
            if "n_repeats" in parameters:
                parameters["n_repeats"] = 1
        return getattr(bitsieve, self.selector)(**parameters)


def _estimator(name: str) -> Any:
    from bitsieve.selectors.named import estimator_by_name

    return estimator_by_name(name)


#: Options of every method, and the parameters of a selector that they are.
_OF_ALL = {"scoring": "scoring", "cv": "cv", "repeats": "n_repeats"}

#: What an option means to a constructor, where that is another value.
_MEANING: dict[str, Callable[[Any], Any]] = {
    "estimator": _estimator,
    "patience": lambda count: count or None,
    "step": lambda step: int(step) if float(step).is_integer() else step,
    "size-rule": lambda rule: rule.replace("-", "_"),
    "gate": lambda gate: gate.replace("-", "_"),
    "scale": lambda scale: scale == "standard",  # where the selector standardises itself
}

#: Options of every search.
SEARCHES = {
    "estimator": "estimator",
    "scale": "",
    "n-features": "n_features_to_select",
    "size-penalty": "size_penalty",
    "forced": "forced_features",
    "forbidden": "forbidden_features",
    "feature-groups": "feature_groups",
    "max-evaluations": "max_evaluations",
    "max-time": "max_time",
}

#: Options of searches that another seed leads elsewhere, and of those that start somewhere.
_RESTARTS, _START = {"restarts": "n_restarts"}, {"start": "start"}

#: Those of the searches that measure on fresh folds; one on fixed folds needs no repeats.
_DEFAULTS = {"estimator": "1nn", "scale": "standard", "scoring": "accuracy", "cv": 5, "repeats": 10}
_ON_FIXED_FOLDS = {**_DEFAULTS, "repeats": 1}

#: What a search has in place of the options of auto.
_OF_AUTO = {
    "max-features": "--n-features sets the size of its panel",
    "selectors": "it is a selector itself",
    "estimators": "--estimator names its classifier",
    "combine": "",
    "parsimony": "--size-penalty prefers small panels",
    "stability": "",
    "log": "",
    "quick": "",
    "thorough": "",
    "time": "--max-time limits each search, in seconds",
    "restrict": "--forbidden @FILE leaves features out",
    "external": "",
    "covariates": "",
}
_FEWER = "--max-evaluations says how many subsets are measured"
_SEQUENTIAL = {
    **SEARCHES,
    **_START,
    "direction": "direction",
    "step": "step",
    "size-rule": "size_rule",
    "patience": "patience",
}
_BY_SIZE = {
    **_OF_AUTO,
    "restarts": "nothing in it is random",
    "max-iter": "--n-features says where it ends",
}
_TRAINED = {
    **_OF_AUTO,
    "estimator": "its own network predicts, --hidden shapes it",
    "estimators": "its own network predicts, --hidden shapes it",
    "size-penalty": "",
    "forced": "",
    "forbidden": "--drop leaves columns out",
    "feature-groups": "",
    "restarts": "--seed 2 is another start",
    "start": "every gate starts half open",
    "step": "",
    "direction": "",
    "kicks": "",
    "restrict": "--drop leaves columns out",
    "cv": "nothing in it is cross-validated but by the outer folds",
    "repeats": "nothing in it is cross-validated but by the outer folds",
}

_LIMITS = ("max-evaluations", "max-time", "patience", "quick", "thorough", "time")

#: Options of every network behind gates.
_NETWORKS = {
    "scale": "standardize",
    "n-features": "n_features_to_select",
    "hidden": "hidden_layer_sizes",
    "batch-size": "batch_size",
    "learning-rate": "learning_rate",
    "device": "device",
}
_PLANNED = "--quick, --thorough and --time say how much is compared"


def _either_direction(parameters: dict[str, Any]) -> dict[str, Any]:
    """Without a size features are added while that gains, and dropped while it does not cost."""
    if parameters.get("direction") == "backward":
        return {**parameters, "tol": 0.0}
    return parameters


def _sizes_compared(parameters: dict[str, Any]) -> dict[str, Any]:
    """An elimination compares sizes, one too, on one set of folds."""
    from sklearn.base import clone

    kept = {name: value for name, value in parameters.items() if name not in _NOT_OF_RFE}
    if parameters.get("n_repeats") not in (None, 1):
        raise ValueError(
            f"--repeats {parameters['n_repeats']} is not for --method rfe, which compares sizes on "
            "one set of folds: leave it out"
        )
    tiny = clone(parameters["estimator"]).fit([[0.0], [1.0], [3.0], [4.0]], [0, 0, 1, 1])
    if not (hasattr(tiny, "coef_") or hasattr(tiny, "feature_importances_")):
        raise ValueError(
            f"--estimator: {type(tiny).__name__} has neither coefficients nor importances, by "
            "which --method rfe drops features: give svm, ridge, logistic, lda or tree"
        )
    size = parameters.get("n_features_to_select")
    several = size is None or isinstance(size, tuple)
    kept["n_features_to_select"] = (size or "auto") if several else (size, size)
    return kept


_NOT_OF_RFE = ("n_repeats", "progress")

#: The methods of the command, the default first.
METHODS = (
    Method(
        name="auto",
        does="compares selectors, sizes and classifiers",
        options=dict.fromkeys(_OF_AUTO, ""),
        instead={
            "estimator": "auto chooses the classifier, --estimators lda,svm restricts it",
            "scale": "auto always standardises",
            "n-features": "--max-features limits the panel",
            "size-penalty": "--parsimony 1 takes a small panel that is about as good",
            "forced": "auto takes features by their ranks and forces none",
            "forbidden": "--drop leaves columns out, --restrict FILE keeps to those of a list",
            "feature-groups": "auto ranks features one by one",
            "restarts": "no choice of auto starts at random",
            "start": "--selectors says what features are ranked by",
            "max-iter": _PLANNED,
            "max-evaluations": _PLANNED,
            "max-time": "--time 5m plans a run of that length",
            "patience": _PLANNED,
            "step": "--selectors rfe compares recursive elimination",
            "direction": "auto ranks features",
            "kicks": _PLANNED,
            "size-rule": "--parsimony 1 takes the smallest panel within a standard error",
            **dict.fromkeys(("lam", "eps", "gate"), "--max-features limits the panel"),
            **dict.fromkeys(
                ("hidden", "learning-rate", "batch-size", "device"), "it trains no network"
            ),
            "max-epochs": _PLANNED,
        },
    ),
    Method(
        name="bspsa",
        does="searches by binary simultaneous perturbation stochastic approximation",
        selector="BinarySPSA",
        options={
            **SEARCHES, **_RESTARTS, **_START, "max-iter": "max_iter", "patience": "patience",
        },
        defaults=_DEFAULTS,
        is_fresh=True,
        starts=("random",),
        instead={
            **_OF_AUTO,
            "quick": "--max-iter shortens it",
            "thorough": "--max-iter and --patience 0 lengthen it",
        },
    ),
    Method(
        name="exhaustive",
        does="measures every subset, of up to 25 features",
        selector="ExhaustiveSearch",
        options=SEARCHES,
        defaults=_ON_FIXED_FOLDS,
        has_range=True,
        instead={
            **_OF_AUTO,
            "restarts": "nothing in it is random",
            "start": "it measures everything",
            "max-iter": "--n-features limits the sizes, --max-evaluations the subsets",
            "patience": "--max-evaluations limits the subsets",
        },
    ),
    Method(
        name="fixed",
        does="exchanges features of a panel of one size, from a filter's best on",
        selector="FixedSizeSearch",
        options={**SEARCHES, **_RESTARTS, **_START, "kicks": "n_kicks"},
        defaults={**_ON_FIXED_FOLDS, "repeats": 5},
        starts=("random",),
        instead={
            **_OF_AUTO,
            "parsimony": "--n-features says how many it has",
            "quick": _FEWER,
            "thorough": "--restarts 5 --start random searches more",
            "max-iter": _FEWER,
            "patience": "it ends where no exchange is better",
        },
    ),
    Method(
        name="sls",
        does="walks by greedy steps and noise (stochastic local search)",
        selector="StochasticLocalSearch",
        options={
            **{option: name for option, name in SEARCHES.items() if option != "n-features"},
            **_RESTARTS, **_START, "max-iter": "max_iter", "patience": "patience",
        },
        defaults=_ON_FIXED_FOLDS,
        starts=("zeros", "random"),
        instead={
            **_OF_AUTO,
            "max-features": "--size-penalty prefers small panels",
            "n-features": "--size-penalty prefers small panels",
            "quick": "--max-iter shortens it",
            "thorough": "--max-iter lengthens it",
        },
    ),
    Method(
        name="random",
        does="measures subsets drawn at random",
        selector="RandomSearch",
        options={**SEARCHES, "patience": "patience"},
        defaults=_DEFAULTS,
        is_fresh=True,
        has_range=True,
        instead={
            **_OF_AUTO,
            "quick": _FEWER,
            "thorough": _FEWER,
            "restarts": _FEWER,
            "start": "each subset is drawn anew",
            "max-iter": _FEWER,
        },
    ),
    Method(
        name="sequential",
        does="adds the best feature, up to --n-features or while the score gains 0.001, or drops "
        "the worst",
        selector="SequentialFeatureSelector",
        aliases=("sfs",),
        options=_SEQUENTIAL,
        defaults=_ON_FIXED_FOLDS,
        settings={"tol": 0.001},
        has_range=True,
        adapt=_either_direction,
        instead=_BY_SIZE,
    ),
    Method(
        name="floating",
        does="does the same, and takes features back where that is better",
        selector="SequentialFeatureSelector",
        aliases=("sffs",),
        options=_SEQUENTIAL,
        defaults=_ON_FIXED_FOLDS,
        settings={"tol": 0.001, "floating": True},
        has_range=True,
        adapt=_either_direction,
        instead=_BY_SIZE,
    ),
    Method(
        name="rfe",
        does="drops the features of the least coefficients, by svm SVM-RFE",
        selector="RecursiveFeatureElimination",
        options={
            "estimator": "estimator", "scale": "", "n-features": "n_features_to_select",
            "step": "step", "size-rule": "size_rule", "forced": "forced_features",
            "forbidden": "forbidden_features",
        },
        defaults={**_ON_FIXED_FOLDS, "estimator": "svm"},
        has_range=True,
        adapt=_sizes_compared,
        instead={
            **_OF_AUTO,
            "parsimony": "--n-features sets the size of its panel",
            "quick": "--step 0.1 shortens it",
            "time": "--step 0.1 shortens it",
            "size-penalty": "--n-features 5-30 limits the sizes that are compared",
            "feature-groups": "it drops features one by one, by their coefficients",
            "restarts": "nothing in it is random",
            "start": "it starts with all features",
            "max-iter": "--step 0.1 shortens it",
            "max-evaluations": "--step 0.1 shortens it",
            "max-time": "--step 0.1 shortens it",
            "patience": "it goes down to the least size",
        },
    ),
    Method(
        name="stg",
        does="trains a network behind stochastic gates, with a penalty on open ones",
        selector="STGClassifier",
        predicts=True,
        options={
            **_NETWORKS, "lam": "lam", "size-rule": "size_rule", "gate": "gate",
            "max-epochs": "max_epochs",
        },
        defaults={"scale": "standard", "scoring": "accuracy"},
        instead={
            **_TRAINED,
            **dict.fromkeys(
                ("max-iter", *_LIMITS), "--max-epochs says how long it trains"
            ),
            "parsimony": "--size-rule one-standard-error prefers small panels",
            "eps": "--lam is the weight of its penalty",
        },
    ),
    Method(
        name="pefs",
        does="trains a network on masks drawn from a distribution that learns with it",
        selector="PEFSClassifier",
        predicts=True,
        options={**_NETWORKS, "eps": "eps", "max-iter": "max_iter"},
        defaults={"scale": "standard", "scoring": "accuracy"},
        instead={
            **_TRAINED,
            **dict.fromkeys(("max-epochs", *_LIMITS), "--max-iter says how long it trains"),
            "parsimony": "--eps prefers small panels",
            "size-rule": "--eps prefers small panels",
            "lam": "--eps is the weight of its penalty",
            "gate": "its masks are Bernoulli's",
        },
    ),
)  # fmt: skip

#: Those that search with an estimator, and those that are trained and predict themselves.
SEARCHING = tuple(m for m in METHODS if m.selector is not None and not m.predicts)
TRAINED = tuple(m for m in METHODS if m.predicts)

#: Their names.
KNOWN = tuple(method.name for method in METHODS)


def joined(names: list[str] | tuple[str, ...]) -> str:
    """Return names as a choice in words.

    Examples
    --------
    >>> joined(["auto", "bspsa", "random"]), joined(["auto"])
    ('auto, bspsa or random', 'auto')
    """
    *first, last = names
    return f"{', '.join(first)} or {last}" if first else last


def method_by_name(name: str) -> Method:
    """Return a method of this command, or point to the other command.

    Upper and lower case are alike.

    Raises
    ------
    ValueError
        Where it is unknown, or one of ``bitsieve rank``.

    Examples
    --------
    >>> method_by_name("BSPSA").selector
    'BinarySPSA'
    """
    for method in METHODS:
        if name.lower() in method.names:
            return method
    from bitsieve.filters.named import filter_by_name

    try:
        other = filter_by_name(name).name
    except ValueError:
        raise ValueError(f"unknown method {name!r}; known methods: {', '.join(KNOWN)}") from None
    raise ValueError(
        f"--method {name} scores features without making a panel: use bitsieve rank --method "
        f"{other}; bitsieve select makes a panel, with {joined(KNOWN)}"
    )
