"""From attribute values to feature ids: every template over every token, in one pass.

A template is a chain of parts, a part a view: a column of the cell matrix and an offset. One part
finds its feature by index (`direct`). Two and more walk through a hash table of links: the first
two values lead to a number, that number and the third value to the next, and the last number is
the feature's.

The table has open addressing and linear probing, its size is a power of two, and a row is
`(a << 32 | b, tag << 32 | number)`: from the number a over the value b to the number, where the
tag, never zero, tells which part b belongs to. A row whose second half is zero is free. All numbers
are below 2³¹, and no product here reaches 2⁶³, so the compiled and the plain form agree.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.seqpa._kernel.prefetch import prefetch

COMPILED = cython.compiled

# `state` counts, across calls: the features, the inner numbers, the table's rows, the output.
STATE_SIZE = 4


# So many tokens are led through a template together: while one waits for its row of the table, the
# others go on.
BLOCK = 64
_BLOCK = cython.declare(cython.Py_ssize_t, 64)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _home(tag: cython.longlong, key: cython.longlong, mask: cython.longlong) -> cython.longlong:
    """The row where the search for (tag, key) begins."""
    low: cython.longlong = key & 0x7FFFFFFF
    mixed: cython.longlong = (key >> 32) ^ (tag * 0x27D4EB2F)
    mixed = ((mixed & 0x7FFFFFFF) ^ (mixed >> 31)) * 0x5BD1E995
    mixed = (((mixed >> 17) & 0x7FFFFFFF) ^ low) * 0x2C1B3C6D
    return (mixed ^ (mixed >> 29)) & mask


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _find(
    table: cython.longlong[:, ::1],
    slot: cython.longlong,
    tag: cython.longlong,
    key: cython.longlong,
) -> cython.Py_ssize_t:
    """The row that holds (tag, key), or the free row where it belongs, from its home on."""
    entry: cython.longlong = table[slot, 1]
    while entry != 0 and (table[slot, 0] != key or entry >> 32 != tag):
        slot = (slot + 1) & (table.shape[0] - 1)
        entry = table[slot, 1]
    return slot


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _follow(
    table: cython.longlong[:, ::1],
    home: cython.longlong,
    tag: cython.longlong,
    key: cython.longlong,
    grow: cython.int,
    counter: cython.int,
    state: cython.longlong[::1],
) -> cython.longlong:
    """The number that the link leads to; a new one of `counter` if it may grow, else -1."""
    slot: cython.Py_ssize_t = _find(table, home, tag, key)
    number: cython.longlong = -1
    if table[slot, 1] != 0:
        number = table[slot, 1] & 0x7FFFFFFF
    elif grow:
        number = state[counter]
        state[counter] = number + 1
        state[2] += 1
        table[slot, 0] = key
        table[slot, 1] = tag << 32 | number
    return number


@cython.ccall
def encode(
    cells: cython.const[cython.int][:, ::1],
    starts: cython.const[cython.longlong][::1],
    column: cython.const[cython.longlong][::1],
    offset: cython.const[cython.longlong][::1],
    edges: cython.longlong,
    first_part: cython.const[cython.longlong][::1],
    view: cython.const[cython.longlong][::1],
    direct_at: cython.const[cython.longlong][::1],
    direct: cython.int[::1],
    table: cython.longlong[:, ::1],
    room: cython.longlong,
    grow: cython.int,
    token: cython.Py_ssize_t,
    state: cython.longlong[::1],
    work: cython.longlong[:, ::1],
    indptr: cython.longlong[::1],
    features: cython.int[::1],
) -> cython.Py_ssize_t:
    """Write the features of the tokens from `token` on; returns the first token not done.

    cells[c, i] is the value of attribute c at token i, -1 where it has none. View v looks at
    column[v] of the token at offset[v]; part p of the templates uses view[p]. Value v counts as
    v + edges, below which stand the sentence's edges: 2(d-1) for d before it, 2(d-1)+1 for d after.
    (`edges` is an int64 scalar, so that the plain form too computes in 64 bits.) With `grow` an
    unseen combination gets the next id; where the table's `room` may not do for another block the
    call returns, and the caller comes back with a larger table. Without, it is left out.
    `work` has three rows of BLOCK numbers more than there are views.
    """
    n_sentences: cython.Py_ssize_t = starts.shape[0] - 1
    n_templates: cython.Py_ssize_t = first_part.shape[0] - 1
    n_views: cython.Py_ssize_t = column.shape[0]
    most_links: cython.longlong = _BLOCK * (first_part[n_templates] - n_templates)
    mask: cython.longlong = table.shape[0] - 1
    numbers: cython.Py_ssize_t = n_views
    keys: cython.Py_ssize_t = n_views + 1
    homes: cython.Py_ssize_t = n_views + 2
    sentence: cython.Py_ssize_t
    t: cython.Py_ssize_t
    p: cython.Py_ssize_t
    v: cython.Py_ssize_t
    i: cython.Py_ssize_t
    n: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    at: cython.Py_ssize_t
    counter: cython.int
    value: cython.longlong
    number: cython.longlong
    out: cython.longlong = state[3]
    with cython.nogil:
        for sentence in range(n_sentences):
            low = starts[sentence]
            high = starts[sentence + 1]
            while token < high:
                if grow and state[2] + most_links > room:
                    state[3] = out
                    return token
                n = min(_BLOCK, high - token)
                for v in range(n_views):
                    for i in range(n):
                        at = token + i + offset[v]
                        if at < low:
                            value = 2 * (low - at - 1)
                        elif at >= high:
                            value = 2 * (at - high) + 1
                        else:
                            value = cells[column[v], at]
                            value = value + edges if value >= 0 else value
                        work[v, i] = value
                for t in range(n_templates):
                    p = first_part[t]
                    if first_part[t + 1] == p + 1:
                        for i in range(n):
                            number = work[view[p], i]
                            if number >= 0:
                                at = direct_at[t] + number
                                number = direct[at]
                                if number < 0 and grow:
                                    number = state[0]
                                    state[0] = number + 1
                                    direct[at] = number
                            work[numbers, i] = number
                    else:
                        for i in range(n):
                            work[numbers, i] = work[view[p], i]
                    for p in range(first_part[t] + 1, first_part[t + 1]):
                        counter = 1 if p + 1 < first_part[t + 1] else 0
                        for i in range(n):
                            number = work[numbers, i]
                            value = work[view[p], i]
                            if number >= 0 and value >= 0:
                                work[keys, i] = number << 32 | value
                                work[homes, i] = _home(p, work[keys, i], mask)
                                if cython.compiled:
                                    prefetch(cython.address(table[work[homes, i], 0]))
                            else:
                                work[keys, i] = -1
                        for i in range(n):
                            number = -1
                            if work[keys, i] >= 0:
                                number = _follow(
                                    table, work[homes, i], p, work[keys, i], grow, counter, state
                                )
                            work[numbers, i] = number
                    for i in range(n):
                        features[out + i * n_templates + t] = work[numbers, i]
                # Close the gaps that absent features leave.
                at = out
                for i in range(n):
                    for t in range(n_templates):
                        number = features[at + t]
                        features[out] = number
                        if number >= 0:
                            out += 1
                    at += n_templates
                    indptr[token + i + 1] = out
                token += n
    state[3] = out
    return token


@cython.ccall
def restore(
    templates: cython.const[cython.int][::1],
    values: cython.const[cython.longlong][::1],
    first_part: cython.const[cython.longlong][::1],
    direct_at: cython.const[cython.longlong][::1],
    direct: cython.int[::1],
    table: cython.longlong[:, ::1],
    state: cython.longlong[::1],
) -> cython.Py_ssize_t:
    """Enter features in the order of their ids, each by its template and values; returns how many.

    Fewer than given: the next one had been there before. The caller has seen to it that every value
    lies inside `direct` and that the table has room.
    """
    mask: cython.longlong = table.shape[0] - 1
    at: cython.Py_ssize_t = 0
    f: cython.Py_ssize_t
    t: cython.Py_ssize_t
    p: cython.Py_ssize_t
    first: cython.Py_ssize_t
    last: cython.Py_ssize_t
    counter: cython.int
    key: cython.longlong
    number: cython.longlong
    with cython.nogil:
        for f in range(templates.shape[0]):
            t = templates[f]
            first = first_part[t]
            last = first_part[t + 1] - 1
            number = values[at]
            if first == last:
                if direct[direct_at[t] + number] >= 0:
                    return f
                direct[direct_at[t] + number] = f
                state[0] += 1
            for p in range(first + 1, last + 1):
                counter = 1 if p < last else 0
                key = number << 32 | values[at + p - first]
                number = _follow(table, _home(p, key, mask), p, key, 1, counter, state)
            if state[0] != f + 1:
                return f
            at += last + 1 - first
    return templates.shape[0]


@cython.ccall
def rehash(
    old: cython.const[cython.longlong][:, ::1], table: cython.longlong[:, ::1]
) -> cython.int:
    """Copy every row of `old` into the larger, empty `table`."""
    mask: cython.longlong = table.shape[0] - 1
    row: cython.Py_ssize_t
    slot: cython.Py_ssize_t
    tag: cython.longlong
    with cython.nogil:
        for row in range(old.shape[0]):
            if old[row, 1] != 0:
                tag = old[row, 1] >> 32
                slot = _find(table, _home(tag, old[row, 0], mask), tag, old[row, 0])
                table[slot, 0] = old[row, 0]
                table[slot, 1] = old[row, 1]
    return 0
