"""What decoding reads and where it works: encoded sentences, and one thread's buffers.

C types of attributes stand in sequences.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled


@cython.final
@cython.cclass
class Scratch:
    """Buffers for decoding one sentence of up to n tokens; each thread has its own.

    em       (width,) the emissions of one token, which the `picked` dense rows are added to
    s        (n, width) the best score up to each token and label
    kept, n_kept
             (n, width), (n,) the labels of each token that may precede the next one
    best     (width,) the best score of each label of the next token, before its emission
    pairs    (labels, width) transitions into one token; flat_pairs the same in one dimension
    path     (n,) the labels that were found
    ems      (n, width) the emissions of all tokens, for decoding the same sentence again; or empty
    ready    whether they are there: then they are read, not computed
    cost     (labels, width) what each label (column) costs in place of another (row), for
             loss-augmented decoding; or empty
    """

    def __init__(self, em, picked, s, kept, n_kept, best, pairs, path, ems, cost):
        self.em = em
        self.picked = picked
        self.s = s
        self.kept = kept
        self.n_kept = n_kept
        self.best = best
        self.pairs = pairs
        self.flat_pairs = pairs.reshape(-1)
        self.path = path
        self.ems = ems
        self.has_ems = len(ems) > 0
        self.ready = False
        self.cost = cost


@cython.final
@cython.cclass
class Sequences:
    """Encoded sentences: sentence i has the tokens starts[i]:starts[i + 1].

    Token t of all has features[indptr[t]:indptr[t + 1]], with `values` (None: all are 1);
    n_features is the length of `features`. Features on label pairs likewise, or None.
    """

    def __init__(self, starts, indptr, features, values, pair_indptr, pair_features, pair_values):
        self.starts = starts
        self.indptr = indptr
        self.features = features
        self.n_features = len(features)
        self.values = values
        self.pair_indptr = pair_indptr
        self.pair_features = pair_features
        self.pair_values = pair_values
        self.has_values = values is not None
        self.has_pairs = pair_indptr is not None
        self.has_pair_values = pair_values is not None

    def hold(self, n_features):
        """From now on the buffers hold so many features."""
        self.n_features = n_features
