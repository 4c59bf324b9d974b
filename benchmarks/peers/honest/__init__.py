"""The honest error of whole procedures, from a table to predictions, on the same outer folds.

sets.py    the tables, their outer folds, and the two halves (choose, confirm)
folds.py   what a procedure sees of an outer fold: scaled parts, rankings, inner folds
models.py  log2 or not, z-scores, shrunken LDA: what scikit-learn has not
rivals.py  the rivals, named beforehand, tuned inside where they have a knob
auto.py    `bitsieve.AutoSelector` through its public interface
rows.py    one row for a procedure, a set and an outer fold, appended to a file at once
report.py  tables out of the rows
"""
