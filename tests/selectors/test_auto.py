"""AutoSelector: what it promises of the panel, of leaks, of seeds and of the numbers beside it."""

from __future__ import annotations

import joblib
import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.model_selection import StratifiedKFold

from bitsieve import AutoSelector
from bitsieve.datasets import make_microarray
from bitsieve.evaluation import nested_cross_validate
from bitsieve.panels import Panel


def _table(n=60, p=200, **options):
    made = make_microarray(n, p, **({"n_informative": 10, "random_state": 0} | options))
    return np.asarray(made.X, dtype=np.float64), np.asarray(made.y)


QUICK = {"effort": "quick", "random_state": 0, "n_jobs": 1}


def test_a_panel_finds_what_is_there_and_keeps_its_limit():
    made = make_microarray(80, 400, n_informative=10, n_redundant=0, class_sep=2.0, random_state=1)
    X, y = made.X, made.y
    auto = AutoSelector(max_features=15, random_state=0, n_jobs=1).fit(X[::2], y[::2])
    assert auto.n_features_ == auto.support_.sum() <= 15
    assert auto.score(X[1::2], y[1::2]) > 0.85
    informative = np.zeros(400, dtype=bool)
    informative[made.informative] = True
    assert informative[auto.support_].mean() > 0.4  # 0.025 by chance
    assert (auto.panel_.support == auto.support_).all()
    members = auto.candidates_[auto.candidates_["chosen"]]
    assert len(members) == len(auto.panel_.members)
    assert (members["size"] <= 15).all()


def test_the_selected_columns_are_all_that_predictions_need():
    X, y = _table()
    auto = AutoSelector(max_features=10, **QUICK).fit(X, y)
    other = np.where(auto.support_, X, np.random.default_rng(0).normal(size=X.shape))
    assert (auto.predict_proba(other) == auto.predict_proba(X)).all()
    again = Panel.from_json(auto.panel_.to_json())
    assert again.predict_proba(X).tobytes() == auto.predict_proba(X).tobytes()
    alone = np.vstack([auto.predict_proba(row[None]) for row in X])
    assert alone.tobytes() == auto.predict_proba(X).tobytes()


def test_an_outer_test_part_of_garbage_changes_nothing():
    X, y = _table(n_classes=3)
    folds = list(StratifiedKFold(3, shuffle=True, random_state=0).split(X, y))
    auto = AutoSelector(random_state=5, n_jobs=1, sizes=(5, 20), combine="vote")
    rng = np.random.default_rng(0)
    for train, test in folds:
        garbage, labels = X.copy(), y.copy()
        garbage[test] = rng.normal(scale=1e9, size=garbage[test].shape)
        labels[test] = rng.permutation(labels[test])
        found = []
        for values, classes in ((X, y), (garbage, labels)):
            one = clone(auto).fit(values[train], classes[train])
            said = [one.panel_.to_json(), one.candidates_.to_csv(), one.path_.to_csv()]
            found.append([*said, *(p.to_json() for p in one.alternatives_.values())])
        assert found[0] == found[1]


def test_nested_evaluation_repeats_all_of_it_on_the_training_part():
    X, y = _table()
    auto = AutoSelector(max_features=10, **QUICK)
    result = nested_cross_validate(auto, None, X, y, cv=3, random_state=1)
    rng = np.random.default_rng(0)
    _, test = result.folds[0]
    garbage, labels = X.copy(), y.copy()
    garbage[test], labels[test] = rng.normal(size=garbage[test].shape), rng.permutation(y[test])
    other = nested_cross_validate(auto, None, garbage, labels, cv=result.folds, random_state=1)
    assert (other.supports[0] == result.supports[0]).all()
    assert (other.supports[1] != result.supports[1]).any()
    assert set(result.alternatives) == {
        *("limit 10", "limit 20", "limit 50", "no limit", "filter of the same size"),
        "single best candidate",
        *("all features: chosen", "all features: lda", "all features: svm"),
    }
    assert (result.alternatives["limit 10"].scores == result.scores).all()


def test_the_same_seed_is_the_same_panel_whatever_the_processes():
    X, y = _table()
    found = []
    for n_jobs in (1, 2):
        auto = AutoSelector(**(QUICK | {"n_jobs": n_jobs})).fit(X, y)
        found.append(auto.panel_.to_json() + auto.candidates_.to_csv())
    assert found[0] == found[1]
    drawn = AutoSelector(**(QUICK | {"random_state": None})).fit(X, y)
    again = AutoSelector(**(QUICK | {"random_state": drawn.seed_})).fit(X, y)
    assert drawn.panel_.to_json() == again.panel_.to_json()


def test_names_of_classes_and_columns_come_through():
    X, y = _table()
    names = np.array(["sick", "well"])[(y == np.unique(y)[1]).astype(int)]
    frame = pd.DataFrame(X, columns=[f"gene{i}" for i in range(X.shape[1])])
    auto = AutoSelector(max_features=5, **QUICK).fit(frame, names)
    assert auto.classes_.tolist() == ["sick", "well"]
    assert set(auto.get_feature_names_out()) == set(auto.panel_.feature_names)
    assert set(auto.predict(frame)) <= {"sick", "well"}
    shuffled = frame[frame.columns[::-1]]
    assert (auto.panel_.predict(shuffled) == auto.predict(frame)).all()


def test_groups_stay_together_and_copies_do_not_flatter():
    X, y = _table(n=40, p=100, n_informative=1, class_sep=0.01)
    X2, y2, groups = np.tile(X, (3, 1)), np.tile(y, 3), np.tile(np.arange(40), 3)
    grouped = AutoSelector(**QUICK).fit(X2, y2, groups=groups)
    with pytest.warns(UserWarning, match="twice|copies|stand"):
        split = AutoSelector(**QUICK).fit(X2, y2)
    assert split.best_score_ > 0.9
    assert grouped.best_score_ < 0.8


def test_refit_holds_the_settings():
    X, y = _table()
    auto = AutoSelector(max_features=10, **QUICK).fit(X, y)
    assert (auto.refit(X, y) == auto.support_).all()
    half = auto.refit(X[::2], y[::2])
    assert half.sum() <= 10 * len(auto.panel_.members)
    assert (half != auto.support_).any()
    one_site = ["a"] * len(y[::2])  # fewer than folds
    assert (auto.refit(X[::2], y[::2], groups=one_site) == half).all()


def test_refit_averages_eliminations_over_the_folds_of_its_seed():
    X, y = _table()
    given = {"selectors": ["f", "rfe"], "estimators": ["lda"], "sizes": [5], "combine": "best"}
    auto = AutoSelector(**given, **(QUICK | {"random_state": 1})).fit(X, y)
    alone = given | {"selectors": ["rfe"], "n_repeats": 1}
    rfe = AutoSelector(**alone, max_features=5, **QUICK).fit(X, y)
    assert (rfe.refit(X, y) == rfe.support_).all()
    found = [rfe.refit(X, y, random_state=seed).tobytes() for seed in range(5)]
    assert len(set(found)) > 1
    # What stands beside a panel as a filter is one.
    (beside,) = auto.alternatives_["filter of the same size"].members
    assert beside.selector == "f"
    assert "filter of the same size" not in rfe.alternatives_


def test_limits_and_the_path():
    X, y = _table(p=300)
    auto = AutoSelector(**QUICK).fit(X, y)
    assert auto.path_["limit"].tolist()[:3] == [10, 20, 50]
    assert np.isnan(auto.path_["limit"].iloc[3])
    assert (auto.path_["n_features"][:3] <= [10, 20, 50]).all()
    for limit in (10, 20, 50):
        panel = auto.alternatives_[f"limit {limit}"]
        direct = AutoSelector(max_features=limit, **QUICK).fit(X, y)
        assert panel.n_features <= limit
        assert direct.n_features_ <= limit
    everything = auto.alternatives_["all features: svm"]
    assert everything.support.all()
    small = AutoSelector(max_features=10, **QUICK).fit(X, y)
    (beside,) = small.alternatives_["filter of the same size"].members
    assert small.n_features_ == beside.size == 10
    table = small.candidates_
    assert table["smoothed"].is_monotonic_decreasing
    assert table["smoothed"].nunique() > 1
    rows = table[(table["selector"] == "f") & (table["size"] == 10)].set_index("estimator")
    assert rows["score"][beside.classifier] == pytest.approx(rows["score"].max())


def test_a_vote_has_twenty_one_members_at_most():
    X, y = _table(class_sep=3.0)  # easy, so that all are alike
    given = {"selectors": ["f", "relieff"], "estimators": ["lda", "svm", "ridge", "knn"],
             "sizes": [15, 30, 60], "n_repeats": 1}  # fmt: skip
    auto = AutoSelector(**given, **QUICK).fit(X, y)
    assert len(auto.candidates_) == 28
    assert len(auto.panel_.members) == 21
    # Below the least size there is no panel to tell of.
    assert auto.path_["limit"].tolist()[:2] == [20, 50]
    assert "limit 10" not in auto.alternatives_


def test_stability_filter_and_parsimony_make_other_panels():
    X, y = _table()
    stable = AutoSelector(stability="filter", random_state=0, n_jobs=1).fit(X, y)
    assert set(stable.candidates_["selector"]) == {"f", "all"}
    small = AutoSelector(combine="best", parsimony=3.0, **QUICK).fit(X, y)
    plain = AutoSelector(combine="best", **QUICK).fit(X, y)
    assert small.n_features_ <= plain.n_features_
    assert "without parsimony" not in plain.alternatives_
    beside = small.alternatives_["without parsimony"]
    assert beside.to_json() == plain.panel_.to_json()
    vote = AutoSelector(**QUICK).fit(X, y)
    assert vote.alternatives_["single best candidate"].to_json() == plain.panel_.to_json()
    assert plain.alternatives_["vote of the best"].to_json() == vote.panel_.to_json()


def test_raw_intensities_are_logged_and_only_by_the_training_part():
    X, y = _table(p=1000)
    raw = np.exp2(X + 9.0)
    auto = AutoSelector(**QUICK).fit(raw, y)
    assert all(member.log for member in auto.panel_.members)
    assert not any(m.log for m in AutoSelector(log="never", **QUICK).fit(raw, y).panel_.members)
    assert not any(m.log for m in AutoSelector(**QUICK).fit(X, y).panel_.members)
    both = AutoSelector(log="both", **QUICK).fit(raw, y)
    assert set(both.candidates_["log"]) == {False, True}
    assert set(AutoSelector(log="both", **QUICK).fit(X, y).candidates_["log"]) == {False}


def test_small_classes_are_found_too():
    made = make_microarray(120, 300, n_informative=10, class_sep=0.7, random_state=3)
    names = np.unique(made.y)
    few = np.flatnonzero(made.y == names[1])[:18]
    rows = np.sort(np.concatenate([np.flatnonzero(made.y == names[0])[:42], few]))
    rest = np.setdiff1d(np.arange(120), rows)
    X, y = made.X[rows], made.y[rows]
    auto = AutoSelector(**QUICK).fit(X, y)
    assert auto.scoring_ == "balanced_accuracy"
    np.testing.assert_allclose(auto.panel_.thresholds, [0.7, 0.3], atol=0.01)
    second = auto.predict_proba(made.X[rest])[:, 1] > auto.panel_.thresholds[1]
    assert (auto.predict(made.X[rest]) == names[second.astype(int)]).all()
    plain = AutoSelector(scoring="accuracy", **QUICK).fit(X, y)
    assert plain.panel_.thresholds is None
    # As many samples of the small class are found, and more than without thresholds.
    of_few = rest[made.y[rest] == names[1]]
    assert np.mean(auto.predict(made.X[of_few]) == names[1]) > np.mean(
        plain.predict(made.X[of_few]) == names[1]
    )


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"selectors": "f"}, "selectors must be 'auto' or a list of names, got 'f'"),
        ({"selectors": ["nope"]}, "nope"),
        ({"selectors": []}, "selectors must name at least one"),
        ({"selectors": None}, "selectors must be 'auto' or a list of names, got None"),
        ({"selectors": [None]}, "a selector must be named by text, such as 'f', got None"),
        ({"selectors": [["f"]]}, "a selector must be named by text"),
        ({"selectors": ["F", "anova"]}, "selectors names one twice: 'F', 'anova'"),
        ({"sizes": 5}, "sizes must be 'auto' or a list of numbers of features, got 5"),
        ({"selectors": ["f", "f"]}, "selectors names one twice"),
        ({"estimators": ["forest"]}, "there is no classifier 'forest'"),
        ({"sizes": "all"}, "sizes must be 'auto' or numbers of features, got 'all'"),
        ({"sizes": [0]}, "sizes must be"),
        ({"max_features": 0}, "max_features must be"),
        ({"combine": "mean"}, "combine must be"),
        ({"parsimony": -1}, "parsimony must be"),
        ({"scoring": "roc_auc"}, "scoring must be"),
        ({"effort": "lazy"}, "effort must be"),
        ({"log": True}, "log must be"),
        ({"max_time": 0}, "max_time must be"),
        ({"cv": 1}, "cv must be"),
        ({"n_repeats": 0}, "n_repeats must be"),
        ({"stability": "filter", "selectors": ["rfe"]}, "stability='filter' chooses the selector"),
    ],
)
def test_bad_parameters_are_named(options, message):
    X, y = _table(n=20, p=30)
    with pytest.raises(ValueError, match=message):
        AutoSelector(**options).fit(X, y)


def test_other_spellings_of_a_selector_are_the_same():
    X, y = _table(n=30, p=60)
    one = AutoSelector(selectors=["f", "surf-star"], **QUICK).fit(X, y)
    other = AutoSelector(selectors=["ANOVA", "SURF*"], **QUICK).fit(X, y)
    assert other.panel_.to_json() == one.panel_.to_json()
    assert set(other.candidates_["selector"]) == {"f", "surf-star", "all"}


def test_without_a_size_below_the_table_all_features_are_the_panel():
    X, y = _table(n=30, p=60)
    for sizes in ([], [60], [200]):
        auto = AutoSelector(sizes=sizes, **QUICK).fit(X, y)
        assert auto.support_.all()
        assert auto.path_["limit"].isna().tolist() == [True]


def test_a_class_that_no_inner_fold_keeps_is_named():
    X, y = _table(n=30, p=60)
    lone = (np.arange(30) == 3).astype(int)
    with (
        pytest.raises(ValueError, match="trains on samples of one class alone"),
        pytest.warns(UserWarning, match="least populated"),
    ):
        AutoSelector(**QUICK).fit(X, lone)
    groups = np.where(y == np.unique(y)[1], 0, 1 + np.arange(30))
    with (
        pytest.raises(ValueError, match="all stand in one group"),
        pytest.warns(UserWarning, match="some classes stand in fewer groups"),
    ):
        AutoSelector(**QUICK).fit(X, y, groups=groups)


def test_halves_of_few_samples_are_selected_from_too():
    X, y = _table(n=40, p=60)
    auto = AutoSelector(selectors=["f", "rfe"], max_features=5, **QUICK).fit(X, y)
    few = np.concatenate([np.flatnonzero(y == label)[:2] for label in np.unique(y)])
    assert 0 < auto.refit(X[few], y[few]).sum() <= 5 * len(auto.panel_.members)


def test_tables_of_objects_are_evaluated_as_their_numbers():
    X, y = _table(n=30, p=60)
    auto = AutoSelector(max_features=5, **QUICK)
    plain = nested_cross_validate(auto, None, X, y, cv=2, random_state=0)
    other = nested_cross_validate(auto, None, X.astype(object), y, cv=2, random_state=0)
    assert (other.alternatives["no limit"].scores == plain.alternatives["no limit"].scores).all()


def test_numbers_to_predict_are_refused():
    X, _ = _table(n=30, p=40)
    with pytest.raises(ValueError, match="class"):
        AutoSelector().fit(X, np.random.default_rng(0).normal(size=30))


@pytest.mark.slow
def test_on_noise_the_honest_score_is_that_of_chance():
    for share in (0.5, 0.3):
        honest, inner = [], []
        for seed in range(20):
            rng = np.random.default_rng(seed)
            X = rng.normal(size=(100, 1000))
            y = rng.permutation(np.arange(100) < 100 * share).astype(int)
            auto = AutoSelector(effort="quick", random_state=seed, n_jobs=1)
            result = nested_cross_validate(
                auto, None, X, y, cv=5, scoring="balanced_accuracy", random_state=seed, n_jobs=2
            )
            honest.append(result.score)
            inner.append(auto.fit(X, y).candidates_["score"].max())
        print(f"{share:.0%}: honest {np.mean(honest):.3f}, inner {np.mean(inner):.3f}")
        assert 0.47 <= np.mean(honest) <= 0.53
        assert np.mean(inner) > np.mean(honest)


def test_an_alias_is_the_selector_that_it_stands_for():
    X, y = load_iris(return_X_y=True)
    settings = {"estimators": ["lda"], "cv": 3, "n_repeats": 1, "n_jobs": 1, "random_state": 0}
    one, other = (AutoSelector(selectors=[name], **settings).fit(X, y) for name in ("f", "Anova"))
    assert one.candidates_.equals(other.candidates_)
    with pytest.raises(ValueError, match="selectors names one twice: 'f', 'Anova'"):
        AutoSelector(selectors=["f", "Anova"], **settings).fit(X, y)


def test_a_plan_refuses_what_a_fit_refuses():
    with pytest.raises(ValueError, match="there is no classifier 'nb'"):
        AutoSelector(estimators=["nb"]).plan(40, 30, 2)


def test_a_training_part_of_one_class_is_refused():
    X, y = load_iris(return_X_y=True)
    X, y, groups = X[:100], y[:100], np.repeat([0, 1], [30, 70])
    with pytest.raises(ValueError, match="an inner fold trains on samples of one class alone"):
        AutoSelector(cv=2, n_jobs=1, effort="quick").fit(X, y, groups=groups)


def test_no_more_processes_than_parts(monkeypatch):
    started = []

    def parallel(n_jobs):
        started.append(n_jobs)
        return joblib.Parallel(n_jobs=1)

    monkeypatch.setattr("bitsieve.panels.race.Parallel", parallel)
    X, y = load_iris(return_X_y=True)
    AutoSelector(
        selectors=["f"], estimators=["lda"], cv=3, n_repeats=1, n_jobs=500, random_state=0
    ).fit(X, y)
    assert started == [3]
