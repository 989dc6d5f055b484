"""Tagging in runs of sentences: strings to numbers, to features, to labels, to strings.

All buffers are made once and used for run after run, so that a single sentence is tagged quickly
too.
C types of attributes stand in runner.pxd.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel import strings
else:
    from seqpa._kernel import strings

COMPILED = cython.compiled


@cython.final
@cython.cclass
class Runner:
    """Tags runs of up to a fixed number of tokens; each thread has its own.

    ids             (columns and lexicons, tokens): the numbers of the words of several runs, which
                    `words` reads (see `template_features.Words`)
    last            what `strings.number` remembers
    table, pair_table
                    the tables of features, and of features on label pairs (or None); `work` is
                    scratch for both
    indptr, features, pair_indptr, pair_features
                    what the tables write, and `data` reads
    chain, scratch  what decodes `data`
    labels          the labels' numbers that it writes
    """

    def __init__(
        self,
        ids,
        last,
        words,
        table,
        pair_table,
        work,
        indptr,
        features,
        pair_indptr,
        pair_features,
        data,
        chain,
        scratch,
        labels,
    ):
        self.ids = ids
        self.last = last
        self.words = words
        self.table = table
        self.pair_table = pair_table
        self.work = work
        self.indptr = indptr
        self.features = features
        self.has_pairs = pair_table is not None
        if self.has_pairs:
            self.pair_indptr = pair_indptr
            self.pair_features = pair_features
        self.data = data
        self.chain = chain
        self.scratch = scratch
        self.labels = labels

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def number(
        self,
        column: cython.Py_ssize_t,
        cells: list,
        begin: cython.Py_ssize_t,
        end: cython.Py_ssize_t,
        numbers: dict,
        fresh: dict,
    ) -> cython.Py_ssize_t:
        """Number the words cells[begin:end] of a column: see `strings.number`."""
        return strings.number(cells, begin, end, numbers, fresh, self.last, self.ids[column])

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def tag(
        self,
        places: cython.const[cython.longlong][::1],
        starts: cython.const[cython.longlong][::1],
        fixed: cython.const[cython.int][::1],
    ) -> cython.Py_ssize_t:
        """Find the labels of words that have been numbered: places[s]:places[s + 1] are sentence s.

        starts : the same, counted from 0. `fixed` and what is returned are those of `Chain.decode`.
        """
        self.encode(places)
        return self.decode(starts, fixed)

    def look_at(self, words, table, pair_table):
        """Go on with these, which have grown since."""
        self.words = words
        self.table = table
        self.pair_table = pair_table

    def read(self, data):
        """Decode these, which have other numbers for the features than `table` writes."""
        self.data = data

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def encode(self, places: cython.const[cython.longlong][::1]) -> cython.Py_ssize_t:
        """Find the features of words that have been numbered, as many as is returned."""
        begin: cython.Py_ssize_t = places[0]
        self.table.encode(self.words, places, begin, False, self.work, self.indptr, self.features)
        if self.has_pairs:
            self.pair_table.encode(
                self.words, places, begin, False, self.work, self.pair_indptr, self.pair_features
            )
        self.data.n_features = self.indptr[places[places.shape[0] - 1] - begin]
        return self.data.n_features

    @cython.ccall
    @cython.exceptval(-2, check=True)
    def decode(
        self,
        starts: cython.const[cython.longlong][::1],
        fixed: cython.const[cython.int][::1],
    ) -> cython.Py_ssize_t:
        """Find the labels of the sentences that have been encoded; see `tag`."""
        self.data.starts = starts
        return self.chain.decode(
            self.data, 0, starts.shape[0] - 1, fixed, self.scratch, self.labels
        )

    def spell(self, names: list):
        """The labels that `tag` found, by name, in a list for each sentence."""
        return strings.spell(names, self.labels, self.data.starts)
