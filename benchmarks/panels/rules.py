"""Which rule of choice makes the better panel: races are stored once, rules compared afterwards.

A race scores every candidate of ``AutoSelector`` inside an outer training part; what all
candidates then say of the outer test part is stored beside it. Any rule (the best, the vote, a
limit, other selectors) can be judged from that without another fit.

    python benchmarks/panels/rules.py --out races race
    python benchmarks/panels/rules.py --out races choose
    python benchmarks/panels/rules.py --out races confirm
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "peers"))

from bitsieve.fitness.splits import FreshFolds
from bitsieve.panels import choice, race
from bitsieve.panels.calibration import most_probable
from bitsieve.panels.design import ALL, Design
from bitsieve.panels.fitting import fit_candidates
from bitsieve.panels.plan import sizes_for
from bitsieve.panels.ranking import Ranked, rank_table
from bitsieve.panels.scaling import log_floor

SELECTORS = ("f", "relieff", "mrmr", "rfe", "lars", "aggregate")
CLASSIFIERS = ("lda", "svm", "ridge", "knn")


def run(name, X, y, folds, out, both=False, n_repeats=3, selectors=SELECTORS):
    """Race in every outer fold that is not stored yet."""
    classes, codes = np.unique(y, return_inverse=True)
    codes = codes.astype(np.int32)
    for number, (train, test) in enumerate(folds):
        path = Path(out) / f"{name}-{number:02d}.npz"
        if path.exists():
            continue
        start = time.perf_counter()
        mine, known = np.ascontiguousarray(X[train], dtype=np.float64), codes[train]
        would = log_floor(mine) is not None
        logs = (False, True) if would and both else (would,)
        design = Design(selectors, CLASSIFIERS, sizes_for(X.shape[1]), X.shape[1], logs=logs)
        inner = FreshFolds(len(known), 5, n_repeats, known).folds(1000 + number)
        raced = race.run_race(mine, known, len(classes), design, inner, n_jobs=1)
        ranked = rank_table(mine, known, design, raced.orders)
        fitted = fit_candidates(mine, known, len(classes), ranked, design.candidates)
        values = np.asarray(X[test], dtype=np.float64)
        scaled = {log: (s.apply(mine), s.apply(values)) for log, s in ranked.scalings.items()}
        said = []
        for one in fitted:
            A, B = (Z[:, one.features] for Z in scaled[one.candidate.log])
            said.append(one.fitted.decide(B @ A.T, np.square(B).sum(axis=1)))
        seconds = time.perf_counter() - start
        keys = list(ranked.orders)
        temporary = path.with_suffix(".tmp.npz")
        np.savez(
            temporary,
            decisions=raced.decisions.astype(np.float32),
            said=np.array(said, dtype=np.float32),
            candidates=np.array([tuple(map(str, c)) for c in raced.candidates]),
            keys=np.array([(str(log), s) for log, s in keys]),
            orders=np.array([ranked.orders[k] for k in keys]),
            inner_orders=np.array([[o[k] for k in keys] for o in raced.orders]).astype(np.int32),
            train=train,
            test=test,
            codes=codes,
            seconds=seconds,
            n_features=X.shape[1],
        )
        temporary.rename(path)
        print(f"{name} {number} {len(said)} candidates {seconds:.1f} s", flush=True)


def load(path):
    """Return a stored race: what choice.py needs, and what all candidates said of the test part."""
    z = np.load(path)
    codes, train, test = z["codes"].astype(np.int32), z["train"], z["test"]
    rows = [(s, int(k), c, log == "True") for s, k, c, log in z["candidates"]]
    p = int(z["n_features"])
    design = Design(
        tuple(dict.fromkeys(r[0] for r in rows if r[0] != ALL)),
        tuple(dict.fromkeys(r[2] for r in rows)),
        tuple(sorted({r[1] for r in rows if r[0] != ALL})),
        p,
        logs=tuple(dict.fromkeys(r[3] for r in rows)),
    )
    keys = [(log == "True", s) for log, s in z["keys"]]
    n_classes = int(codes.max()) + 1
    raced = race.Race(
        design,
        codes[train],
        n_classes,
        z["decisions"].astype(np.float64),
        [dict(zip(keys, o, strict=True)) for o in z["inner_orders"]],
    )
    ranked = Ranked({}, dict(zip(keys, z["orders"], strict=True)))
    return raced, ranked, z["said"].astype(np.float64), codes[test], float(z["seconds"])


def part_of(raced, ranked, said, selectors=None, classifiers=None, sizes=None, has_all=True):
    """Return the race among some of the candidates."""
    whole = raced.design
    design = Design(
        tuple(s for s in whole.selectors if selectors is None or s in selectors),
        tuple(c for c in whole.classifiers if classifiers is None or c in classifiers),
        tuple(k for k in whole.sizes if sizes is None or k in sizes),
        whole.n_features,
        has_all=has_all,
        logs=whole.logs,
    )
    place = {one: number for number, one in enumerate(whole.candidates)}
    mine = [place[one] for one in design.candidates]
    part = race.Race(design, raced.codes, raced.n_classes, raced.decisions[mine], raced.orders)
    return part, ranked, said[mine]


def predicted(raced, scores, said, members):
    """Classes of the greatest mean calibrated probability, as the panel of these members says."""
    total = sum(choice.calibration_of(raced, c).apply(said[c]) for c in members)
    return most_probable(total, choice.thresholds_for(raced, scores.name))


def judged(stored, rule, **subset):
    """Return error, balanced error and support of a rule on a stored race."""
    raced, ranked, said = part_of(*stored[:3], **subset)
    scores = choice.score_candidates(raced)
    members = choice.choose(raced, scores, ranked, rule).members
    found, truth = predicted(raced, scores, said, members), stored[3]
    support = np.zeros(raced.design.n_features, dtype=bool)
    for number in members:
        support[ranked.features(raced.candidates[number])] = True
    wrong = found != truth
    return wrong.mean(), np.mean([wrong[truth == c].mean() for c in np.unique(truth)]), support


Rule = choice.Rule
THREE = {"selectors": ("relieff", "mrmr", "rfe"), "classifiers": ("lda", "svm", "ridge")}
RULES = {}
for _cap in (None, 50, 20, 10):
    _of = "" if _cap is None else f" <= {_cap}"
    RULES[f"default{_of}"] = (Rule(max_features=_cap), THREE)
    RULES[f"single best{_of}"] = (Rule("best", max_features=_cap), THREE)
    if _cap == 10:
        continue
    for _more in ("f", "lars", "aggregate"):
        RULES[f"with {_more}{_of}"] = (
            Rule(max_features=_cap),
            {**THREE, "selectors": (*THREE["selectors"], _more)},
        )
    for _less in THREE["selectors"]:
        _left = tuple(s for s in THREE["selectors"] if s != _less)
        RULES[f"without {_less}{_of}"] = (Rule(max_features=_cap), {**THREE, "selectors": _left})
    RULES[f"with knn{_of}"] = (
        Rule(max_features=_cap),
        {**THREE, "classifiers": (*THREE["classifiers"], "knn")},
    )
    for _less in THREE["classifiers"]:
        _left = tuple(c for c in THREE["classifiers"] if c != _less)
        RULES[f"without {_less}{_of}"] = (Rule(max_features=_cap), {**THREE, "classifiers": _left})
    for _n in (11, 41):
        RULES[f"{_n} members{_of}"] = (Rule(n_members=_n, max_features=_cap), THREE)
    for _t in (1.0, 3.0, None):
        RULES[f"within {_t} errors{_of}"] = (Rule(tolerance=_t, max_features=_cap), THREE)
    for _s in (0.0, 0.75):
        RULES[f"smoothing {_s}{_of}"] = (Rule(smoothing=_s, max_features=_cap), THREE)
    RULES[f"parsimony 1{_of}"] = (Rule("best", parsimony=1.0, max_features=_cap), THREE)
    RULES[f"f + lda, size{_of}"] = (
        Rule("best", smoothing=0.0, max_features=_cap),
        {"selectors": ("f",), "classifiers": ("lda",)},
    )
RULES["stability filter <= 20"] = (Rule(max_features=20), {**THREE, "selectors": ("f",)})


def nogueira(supports):
    """Stability of supports, corrected for chance (Nogueira, Sechidis and Brown 2018)."""
    Z = np.asarray(supports, float)
    m, p = Z.shape
    share = Z.mean(axis=0)
    k = Z.sum(axis=1).mean() / p
    if k in (0.0, 1.0):
        return 1.0
    return 1 - (m / (m - 1) * share * (1 - share)).mean() / (k * (1 - k))


def compare(out, rules, sets):
    """Print errors of rules by set, their mean, features needed and stability, percent."""
    stored = {
        name: [load(path) for path in sorted(Path(out).glob(f"{name}-[0-9][0-9].npz"))]
        for name in sets
    }
    print("folds:", {name: len(rows) for name, rows in stored.items()})
    head = "".join(f"{name[:8]:>9s}" for name in sets)
    print(f"{'rule':24s}{head}     mean balanced  feat  stab")
    for label, (rule, subset) in rules.items():
        errors, balanced, size, stable = [], [], [], []
        for rows in stored.values():
            found = [judged(one, rule, **subset) for one in rows]
            errors.append(100 * np.mean([r[0] for r in found]))
            balanced.append(100 * np.mean([r[1] for r in found]))
            size.append(np.mean([r[2].sum() for r in found]))
            rounds = [found[i : i + 5] for i in range(0, len(found), 5)]
            stable.append(np.mean([nogueira([r[2] for r in one]) for one in rounds]))
        cells = "".join(f"{e:9.1f}" for e in errors)
        print(
            f"{label:24s}{cells}{np.mean(errors):9.2f}{np.mean(balanced):9.2f}"
            f"{np.median(size):6.0f}{np.mean(stable):6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    from honest.sets import CHOOSE, CONFIRM, SETS, outer_folds
    from honest.sets import load as load_set

    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["race", "choose", "confirm"])
    parser.add_argument("sets", nargs="*", help="all, or all of that half, if none are named")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--both", action="store_true", help="logged and plain values")
    args = parser.parse_args()
    args.out.mkdir(exist_ok=True, parents=True)
    if args.what == "race":
        for repeat in range(4):
            for name in args.sets or SETS:
                table = load_set(name)
                folds = outer_folds(name)[: 5 * (repeat + 1)]
                run(name, table.X, table.codes, folds, args.out, both=args.both)
    else:
        half = CHOOSE if args.what == "choose" else CONFIRM
        compare(args.out, RULES, args.sets or half)
