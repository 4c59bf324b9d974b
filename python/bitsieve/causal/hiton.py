"""HITON-PC: candidates by their association, each against subsets of what was taken before.

C. F. Aliferis, I. Tsamardinos, A. Statnikov, "HITON: a novel Markov blanket algorithm for optimal
variable selection", AMIA 2003, 21-25; C. F. Aliferis et al., "Local causal and Markov blanket
induction for causal discovery and feature selection for classification", JMLR 11 (2010) 171-234.
"""

from __future__ import annotations

from bitsieve.causal.neighbors import Neighbors

__all__ = ["hiton_pc"]


def hiton_pc(search: Neighbors) -> None:
    """Take parents and children of the target, elimination interleaved.

    A candidate that subsets of those taken separate from the target is dropped. Otherwise it is
    taken, and those taken before are dropped where a set with the new one in it separates them:
    all other sets were tried when their own last member came.
    """
    for x in search.associated():
        if not search.separate(x, search.members):
            search.drop_separated_by(x)
            search.members.append(x)
