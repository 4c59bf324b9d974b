"""The methods of ``bitsieve select``, and which options belong to which of them."""

from __future__ import annotations

from collections.abc import Mapping

__all__ = ["KNOWN", "check_method", "refuse_options_of_others"]

#: Methods of the command, the default first.
KNOWN = ("auto", "bspsa")

#: Options that one method alone has, and what to do about them beside another one.
_ONLY: dict[str, dict[str, str]] = {
    "bspsa": {
        "estimator": "auto chooses the classifier, --estimators lda,svm restricts it",
        "scale": "auto always standardises",
        "n-features": "--max-features limits the panel",
        "max-iter": "--quick, --thorough and --time say how much is compared",
        "max-time": "--time 5m plans a run of that length",
        "patience": "--quick, --thorough and --time say how much is compared",
    },
    "auto": {
        "max-features": "--n-features sets the size of its panel",
        "selectors": "it is a selector itself",
        "estimators": "--estimator names its classifier",
        "combine": "",
        "parsimony": "",
        "stability": "",
        "log": "",
        "quick": "--max-iter shortens it",
        "thorough": "--max-iter and --patience 0 lengthen it",
        "time": "--max-time limits each search, in seconds",
        "outer-repeats": "",
        "restrict": "",
        "external": "",
        "covariates": "",
    },
}


def check_method(method: str) -> str:
    """Return the name of a method of this command, or point to the other command.

    Raises
    ------
    ValueError
        Where it is unknown, or one of ``bitsieve rank``.
    """
    from bitsieve.filters.named import filter_by_name

    name = method.lower()
    if name in KNOWN:
        return name
    try:
        other = filter_by_name(method).name
    except ValueError:
        raise ValueError(f"unknown method {method!r}; known methods: {', '.join(KNOWN)}") from None
    raise ValueError(
        f"--method {method} scores features without making a panel: use bitsieve rank --method "
        f"{other}; bitsieve select makes a panel, with {' or '.join(KNOWN)}"
    )


def refuse_options_of_others(method: str, typed: Mapping[str, object]) -> None:
    """Refuse an option that another method has and this one has not.

    Parameters
    ----------
    method : str
        One of :data:`KNOWN`.
    typed : mapping of str to object
        Options without their dashes; None and False are those that were not typed.

    Raises
    ------
    ValueError
        It names the option, and what does the same here.

    Examples
    --------
    >>> refuse_options_of_others("auto", {"max-iter": None, "patience": None})
    >>> refuse_options_of_others("auto", {"estimator": "1nn"})
    Traceback (most recent call last):
        ...
    ValueError: --estimator is an option of --method bspsa alone (auto chooses the classifier, \
--estimators lda,svm restricts it): leave it out, or give --method bspsa
    """
    for other, options in _ONLY.items():
        for option, instead in options.items():
            value = typed.get(option)
            if other != method and value is not None and value is not False:
                hint = f" ({instead})" if instead else ""
                raise ValueError(
                    f"--{option} is an option of --method {other} alone{hint}: leave it out, or "
                    f"give --method {other}"
                )
