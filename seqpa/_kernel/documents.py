"""The same word elsewhere in a document: its nearest occurrences, and what they were labelled.

Tokens, or whatever else stands in a text, come sorted by key and then by place: `order[r]` is the
number of the r-th, so that occurrences of one key stand side by side.
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

COMPILED = cython.compiled


@cython.ccall
@cython.exceptval(-1, check=True)
def nearest(
    order: cython.const[cython.longlong][::1],
    keys: cython.const[cython.int][::1],
    asks: cython.const[cython.uchar][::1],
    documents: cython.const[cython.longlong][::1],
    window: cython.Py_ssize_t,
    most: cython.Py_ssize_t,
    at: cython.longlong[::1],
    found: cython.int[::1],
) -> cython.Py_ssize_t:
    """The nearest other tokens with the same key in the same document; returns how many in all.

    Those of token i are found[at[i]:at[i] + n], the nearest first, of two equally far the earlier;
    n is at[tokens + i], and -1 where the token does not ask. Document d has the tokens
    documents[d]:documents[d + 1]. At most `most` are taken, none further away than `window`.
    """
    n: cython.Py_ssize_t = order.shape[0]
    end: cython.Py_ssize_t = 0
    d: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    token: cython.Py_ssize_t
    left: cython.Py_ssize_t
    right: cython.Py_ssize_t
    before: cython.Py_ssize_t
    after: cython.Py_ssize_t
    taken: cython.Py_ssize_t
    low: cython.Py_ssize_t
    high: cython.Py_ssize_t
    with cython.nogil:
        for token in range(n):
            at[n + token] = -1
        for r in range(n):
            token = order[r]
            at[token] = end
            if r == 0 or keys[order[r - 1]] != keys[token]:
                d = 0
            if not asks[token]:
                continue
            # Places grow along one key, and so do documents.
            while documents[d + 1] <= token:
                d = _document_of(documents, d, token)
            low = max(documents[d], token - window)
            high = min(documents[d + 1] - 1, token + window)
            left = r - 1
            right = r + 1
            taken = 0
            while taken < most:
                before = -1
                after = -1
                if left >= 0 and keys[order[left]] == keys[token] and order[left] >= low:
                    before = order[left]
                if right < n and keys[order[right]] == keys[token] and order[right] <= high:
                    after = order[right]
                if before >= 0 and (after < 0 or token - before <= after - token):
                    found[end] = before
                    left -= 1
                elif after >= 0:
                    found[end] = after
                    right += 1
                else:
                    break
                end += 1
                taken += 1
            at[n + token] = taken
    return end


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def _document_of(
    documents: cython.const[cython.longlong][::1],
    low: cython.Py_ssize_t,
    token: cython.Py_ssize_t,
) -> cython.Py_ssize_t:
    """The document, from `low` on, that has the token: by halving."""
    high: cython.Py_ssize_t = documents.shape[0] - 1
    middle: cython.Py_ssize_t
    while high - low > 1:
        middle = (low + high) // 2
        if documents[middle] <= token:
            low = middle
        else:
            high = middle
    return low


@cython.ccall
def majorities(
    order: cython.const[cython.longlong][::1],
    keys: cython.const[cython.int][::1],
    places: cython.const[cython.longlong][::1],
    documents: cython.const[cython.longlong][::1],
    types: cython.const[cython.int][::1],
    owners: cython.const[cython.int][::1],
    window: cython.Py_ssize_t,
    counts: cython.longlong[::1],
    out: cython.int[:, ::1],
):
    """What others with the same key within the window were called most often.

    Items have a key, a place, a document, a type (-1: it only asks) and an owner, whose other items
    do not count for it. out[i] is the type, how often it was there and how many types were counted
    in all; -1, 0, 0 where there are none. Of equally frequent types the first wins. `counts` has a
    zero for each type, before and after.
    """
    n: cython.Py_ssize_t = order.shape[0]
    first: cython.Py_ssize_t = 0
    last: cython.Py_ssize_t = 0
    r: cython.Py_ssize_t
    k: cython.Py_ssize_t
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    total: cython.longlong = 0
    best: cython.longlong
    own: cython.longlong
    of_type: cython.longlong
    with cython.nogil:
        for r in range(n):
            i = order[r]
            if r == 0 or keys[order[r - 1]] != keys[i] or documents[order[r - 1]] != documents[i]:
                while first < last:  # of the key before
                    j = order[first]
                    if types[j] >= 0:
                        counts[types[j]] -= 1
                        total -= 1
                    first += 1
                first = r
                last = r
            while (
                last < n
                and keys[order[last]] == keys[i]
                and documents[order[last]] == documents[i]
                and places[order[last]] <= places[i] + window
            ):
                if types[order[last]] >= 0:
                    counts[types[order[last]]] += 1
                    total += 1
                last += 1
            while places[order[first]] < places[i] - window:
                if types[order[first]] >= 0:
                    counts[types[order[first]]] -= 1
                    total -= 1
                first += 1
            # Take out what is its owner's; those stand close by, at nearly the same place.
            own = 0
            k = r
            while k >= first and owners[order[k]] == owners[i]:
                if types[order[k]] >= 0:
                    counts[types[order[k]]] -= 1
                    own += 1
                k -= 1
            k = r + 1
            while k < last and owners[order[k]] == owners[i]:
                if types[order[k]] >= 0:
                    counts[types[order[k]]] -= 1
                    own += 1
                k += 1
            out[i, 0] = -1
            out[i, 1] = 0
            out[i, 2] = total - own
            if total > own:
                best = 0
                for k in range(counts.shape[0]):
                    of_type = counts[k]
                    if of_type > best:
                        best = of_type
                        out[i, 0] = k
                out[i, 1] = best
            k = r
            while k >= first and owners[order[k]] == owners[i]:
                if types[order[k]] >= 0:
                    counts[types[order[k]]] += 1
                k -= 1
            k = r + 1
            while k < last and owners[order[k]] == owners[i]:
                if types[order[k]] >= 0:
                    counts[types[order[k]]] += 1
                k += 1
        while first < last:
            if types[order[first]] >= 0:
                counts[types[order[first]]] -= 1
            first += 1
