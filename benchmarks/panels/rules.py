"""Which rule of choice makes the better panel: races are stored once, rules compared afterwards.

A race scores every candidate of ``AutoSelector`` inside an outer training part; what all
candidates then say of the outer test part is stored beside it. Any rule (the best, the vote, a
limit, other selectors) can be judged from that without another fit.

    python benchmarks/panels/rules.py race --out races west singh
    python benchmarks/panels/rules.py compare --out races
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
from bitsieve.panels.plan import sizes_for
from bitsieve.panels.race import Design, Ranked
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
        ranked = race.rank_table(mine, known, design, raced.orders)
        fitted = race.fit_candidates(mine, known, len(classes), ranked, design.candidates)
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
        tuple(dict.fromkeys(r[0] for r in rows if r[0] != race.ALL)),
        tuple(dict.fromkeys(r[2] for r in rows)),
        tuple(sorted({r[1] for r in rows if r[0] != race.ALL})),
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


def vote(said, n_classes):
    """Classes that most of the candidates say, ties to the first candidate's."""
    votes = np.zeros((said.shape[1], n_classes))
    for one in said:
        votes += np.eye(n_classes)[choice.codes_of(one)]
    votes += 0.5 * np.eye(n_classes)[choice.codes_of(said[0])]
    return votes.argmax(axis=1)


def judged(stored, rule, **subset):
    """Return error, features, inner error and support of a rule on a stored race."""
    raced, ranked, said = part_of(*stored[:3], **subset)
    scores = choice.score_candidates(raced)
    chosen = choice.choose(raced, scores, ranked, rule)
    members = list(chosen.members)
    predicted = vote(said[members], raced.n_classes)
    support = np.zeros(raced.design.n_features, dtype=bool)
    for number in members:
        support[ranked.features(raced.candidates[number])] = True
    wrong = predicted != stored[3]
    return wrong.mean(), support, 1 - scores.score[members[0]]


Rule = choice.Rule
SMALL = {"has_all": False, "sizes": (5, 10, 20, 50)}
RULES = {
    "best": (Rule("best", smoothing=0.0), {}),
    "best, smoothed": (Rule("best"), {}),
    "vote 21": (Rule("vote", 21, smoothing=0.0), {}),
    "vote 21, smoothed": (Rule("vote", 21), {}),
    "vote 11, smoothed": (Rule("vote", 11), {}),
    "vote 41, smoothed": (Rule("vote", 41), {}),
    "best <=50": (Rule("best", max_features=50, smoothing=0.0), {}),
    "best <=50, smoothed": (Rule("best", max_features=50), {}),
    "vote 21 <=50, smoothed": (Rule("vote", 21, 50), {}),
    "vote 21 <=50": (Rule("vote", 21, 50, smoothing=0.0), {}),
    "vote 41 <=50": (Rule("vote", 41, 50), {}),
    "best <=20, smoothed": (Rule("best", max_features=20), {}),
    "vote 21 <=20, smoothed": (Rule("vote", 21, 20), {}),
    "lda all": (Rule("best"), {"selectors": (), "sizes": (), "classifiers": ("lda",)}),
    "svm all": (Rule("best"), {"selectors": (), "sizes": (), "classifiers": ("svm",)}),
    "ridge all": (Rule("best"), {"selectors": (), "sizes": (), "classifiers": ("ridge",)}),
    "f + lda, size": (Rule("best", smoothing=0.0), {"selectors": ("f",), "classifiers": ("lda",)}),
}
for _s in SELECTORS:
    RULES[f"{_s} size + lda <=50"] = (
        Rule("best", smoothing=0.0),
        {"selectors": (_s,), "classifiers": ("lda",), **SMALL},
    )
    RULES[f"{_s} size + svm <=50"] = (
        Rule("best", smoothing=0.0),
        {"selectors": (_s,), "classifiers": ("svm",), **SMALL},
    )
    RULES[f"{_s} 20 + svm"] = (
        Rule("best"),
        {"selectors": (_s,), "classifiers": ("svm",), "has_all": False, "sizes": (20,)},
    )


def nogueira(supports):
    """Stability of supports, corrected for chance (Nogueira, Sechidis and Brown 2018)."""
    Z = np.asarray(supports, float)
    m, p = Z.shape
    share = Z.mean(axis=0)
    k = Z.sum(axis=1).mean() / p
    if k in (0.0, 1.0):
        return 1.0
    return 1 - (m / (m - 1) * share * (1 - share)).mean() / (k * (1 - k))


def compare(out, rules, sets=None):
    """Print errors of rules by set, their mean, features needed and stability."""
    files: dict[str, list[Path]] = {}
    for path in sorted(Path(out).glob("*-[0-9][0-9].npz")):
        files.setdefault(path.name.rsplit("-", 1)[0], []).append(path)
    names = [name for name in files if sets is None or not len(sets) or name in sets]
    stored = {name: [load(path) for path in files[name]] for name in names}
    print("folds:", {name: len(files[name]) for name in names})
    print(f"{'rule':28s}" + "".join(f"{name[:8]:>9s}" for name in names) + "     mean  feat  stab")
    for label, (rule, subset) in rules.items():
        errors, size, stable = [], [], []
        for name in names:
            rows = [judged(one, rule, **subset) for one in stored[name]]
            errors.append(100 * np.mean([r[0] for r in rows]))
            size.append(np.mean([r[1].sum() for r in rows]))
            five = [rows[i : i + 5] for i in range(0, len(rows), 5)]
            stable.append(np.mean([nogueira([r[1] for r in f]) for f in five if len(f) > 1] or 1))
        cells = "".join(f"{e:9.1f}" for e in errors)
        print(
            f"{label:28s}{cells}{np.mean(errors):9.2f}{np.median(size):6.0f}{np.mean(stable):6.2f}",
            flush=True,
        )


if __name__ == "__main__":
    from honest.sets import load as load_set
    from honest.sets import outer_folds

    parser = argparse.ArgumentParser()
    parser.add_argument("what", choices=["race", "compare"])
    parser.add_argument("sets", nargs="*")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--both", action="store_true")
    args = parser.parse_args()
    args.out.mkdir(exist_ok=True, parents=True)
    if args.what == "race":
        for repeat in range(4):
            for name in args.sets:
                table = load_set(name)
                folds = outer_folds(name)[: 5 * (repeat + 1)]
                run(name, table.X, table.codes, folds, args.out, both=args.both)
    else:
        compare(args.out, RULES, args.sets)
