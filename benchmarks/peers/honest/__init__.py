"""The honest error of whole procedures, from a table to predictions, on the same outer folds.

sets.py    the tables, their outer folds, and the two halves (choose, confirm)
folds.py   what a procedure sees of an outer fold: scaled parts, rankings, inner folds
models.py  log2 or not, z-scores, shrunken LDA: what scikit-learn has not
rivals.py  the rivals, named beforehand, tuned inside where they have a knob
auto.py    `bitsieve.AutoSelector` through its public interface
costly.py  rivals that take seconds to minutes a fold, on three sets only
rows.py    one row for a procedure, a set and an outer fold, appended to a file at once
run.py     the loop: what is missing, cheap procedures of all sets first
results.py what the rows say of each procedure
report.py  tables
checks.py  the rivals' own short forms beside independent ones
"""
