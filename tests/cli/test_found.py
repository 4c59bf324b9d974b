"""What a panel is made of, in words."""

from __future__ import annotations

from dataclasses import replace

from small_panels import made

from bitsieve.cli.found import made_by


def test_a_panel_says_what_it_is_made_of() -> None:
    panel, _ = made()  # of five members, of which three take logarithms
    assert made_by(panel) == (
        "the vote of 5 classifiers (shrunken LDA, linear SVM, ridge, nearest neighbors, 3 nearest "
        "neighbors) on 1 to 33 features each, selected by F of the analysis of variance, partly on "
        "log2 values"
    )
    lda, svm, *_ = panel.members
    one = made_by(replace(panel, members=(lda,)))
    assert one == "shrunken LDA on the 7 first by F of the analysis of variance on log2 values"
    one = made_by(replace(panel, members=(svm,)))
    assert one == "linear SVM on the 1 first by F of the analysis of variance"
