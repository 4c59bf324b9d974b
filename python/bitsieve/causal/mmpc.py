"""MMPC: next comes the candidate whose least association is the greatest.

I. Tsamardinos, C. F. Aliferis, A. Statnikov, "Time and sample efficient discovery of Markov
blankets and direct causal relations", KDD 2003, 673-678; the interleaved form is GetPCD of
J. M. Pena et al., "Towards scalable and data efficient learning of Markov boundaries", IJAR 45
(2007) 211-232.
"""

from __future__ import annotations

from bitsieve.causal.neighbors import Neighbors

__all__ = ["mmpc", "mmpc_interleaved"]


def mmpc(search: Neighbors) -> None:
    """Take parents and children of the target, and eliminate at the end."""
    _take(search, interleaved=False)
    for x in list(search.members):
        if search.separate(x, [z for z in search.members if z != x]):
            search.members.remove(x)


def mmpc_interleaved(search: Neighbors) -> None:
    """Take parents and children of the target, and eliminate whenever one was taken."""
    _take(search, interleaved=True)


def _take(search: Neighbors, *, interleaved: bool) -> None:
    left = search.associated()
    while left:
        # Ties stay in the order of the association. Of a candidate the greatest p counts over
        # all subsets that were tried; those with the new member in them are the new ones.
        new = min(left, key=search.log_p.__getitem__)
        left.remove(new)
        if interleaved:
            search.drop_separated_by(new)
        left = [x for x in left if not search.separate(x, search.members, among=(new,))]
        search.members.append(new)
