"""Classes of words by the words beside them, and the tree over the classes.

With N(c, d) pairs of neighbours of which the first is in class c and the second in d, what the
class of a word tells about the next one's (their mutual information) is, up to constants,

    F = Σ f(N(c, d)) − Σ f(N(c, ·)) − Σ f(N(·, d))     with f(n) = n log n.

`Exchange` moves one word at a time to the class where F is highest (Kneser and Ney, 1993); `merge`
joins the two classes that F loses least by, until one is left (Brown et al., 1992).
"""

from __future__ import annotations

try:
    import cython
except ImportError:
    from seqpa._kernel import _stand_in as cython

if cython.compiled:
    from cython.cimports.libc.math import log
else:
    from math import log

COMPILED = cython.compiled


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def f_of(n: cython.longlong, known: cython.const[cython.double][::1]) -> cython.double:
    """n log n: looked up where n is small, as it mostly is."""
    if n < known.shape[0]:
        return known[n]
    x: cython.double = cython.cast(cython.double, n)
    return x * log(x)


@cython.ccall
@cython.exceptval(check=False)
def fill(known: cython.double[::1]) -> cython.void:
    """known[n] = n log n."""
    n: cython.Py_ssize_t
    known[0] = 0.0
    for n in range(1, known.shape[0]):
        known[n] = cython.cast(cython.double, n) * log(cython.cast(cython.double, n))


@cython.final
@cython.cclass
class Exchange:
    """Words, their neighbours, and the classes that they are in.

    follow_at, follow, follow_n
             word w is followed by follow[follow_at[w]:follow_at[w + 1]], so many times each
    precede_at, precede, precede_n
             the same of the words before it
    classes  (words,) the class of each word
    pairs    (classes, classes) N(c, d); `turned` is N(d, c), so that both are read along a row
    first, second
             (classes,) N(c, ·) and N(·, c)
    behind, ahead, touched
             (classes,) scratch: pairs of the word at hand with each class, which classes those are
    known    n log n of small n
    """

    follow_at: cython.const[cython.longlong][::1]
    follow: cython.const[cython.int][::1]
    follow_n: cython.const[cython.longlong][::1]
    precede_at: cython.const[cython.longlong][::1]
    precede: cython.const[cython.int][::1]
    precede_n: cython.const[cython.longlong][::1]
    classes: cython.int[::1]
    pairs: cython.longlong[:, ::1]
    turned: cython.longlong[:, ::1]
    first: cython.longlong[::1]
    second: cython.longlong[::1]
    behind: cython.longlong[::1]
    ahead: cython.longlong[::1]
    touched: cython.int[::1]
    known: cython.const[cython.double][::1]

    def __init__(
        self,
        follow_at,
        follow,
        follow_n,
        precede_at,
        precede,
        precede_n,
        classes,
        pairs,
        turned,
        first,
        second,
        behind,
        ahead,
        touched,
        known,
    ):
        self.follow_at = follow_at
        self.follow = follow
        self.follow_n = follow_n
        self.precede_at = precede_at
        self.precede = precede
        self.precede_n = precede_n
        self.classes = classes
        self.pairs = pairs
        self.turned = turned
        self.first = first
        self.second = second
        self.behind = behind
        self.ahead = ahead
        self.touched = touched
        self.known = known

    def move_words(self, begin: cython.Py_ssize_t, end: cython.Py_ssize_t) -> int:
        """Move each of these words to where F is highest; how many were moved."""
        w: cython.Py_ssize_t
        moved: cython.Py_ssize_t = 0
        with cython.nogil:
            for w in range(begin, end):
                moved += self.move(w)
        return moved

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def move(self, w: cython.Py_ssize_t) -> cython.Py_ssize_t:
        e: cython.Py_ssize_t
        c: cython.Py_ssize_t
        n_touched: cython.Py_ssize_t = 0
        own: cython.Py_ssize_t = self.classes[w]
        best: cython.Py_ssize_t = own
        with_itself: cython.longlong = 0
        sum_behind: cython.longlong = 0
        sum_ahead: cython.longlong = 0
        gain: cython.double
        most: cython.double
        for e in range(self.follow_at[w], self.follow_at[w + 1]):
            if self.follow[e] == w:
                with_itself = self.follow_n[e]
                continue
            c = self.classes[self.follow[e]]
            if self.ahead[c] == 0 and self.behind[c] == 0:
                self.touched[n_touched] = c
                n_touched += 1
            self.ahead[c] += self.follow_n[e]
            sum_ahead += self.follow_n[e]
        for e in range(self.precede_at[w], self.precede_at[w + 1]):
            if self.precede[e] == w:
                continue
            c = self.classes[self.precede[e]]
            if self.ahead[c] == 0 and self.behind[c] == 0:
                self.touched[n_touched] = c
                n_touched += 1
            self.behind[c] += self.precede_n[e]
            sum_behind += self.precede_n[e]
        self.add(own, n_touched, with_itself, sum_ahead, sum_behind, -1)
        most = self.gain_in(own, n_touched, with_itself, sum_ahead, sum_behind)
        for c in range(self.pairs.shape[0]):
            if c != own:
                gain = self.gain_in(c, n_touched, with_itself, sum_ahead, sum_behind)
                # Sums of many terms: what differs by less is equal, or words would move in circles.
                if gain > most + 1e-9 * (1.0 + abs(most)):
                    most = gain
                    best = c
        self.add(best, n_touched, with_itself, sum_ahead, sum_behind, 1)
        self.classes[w] = best
        for e in range(n_touched):
            self.ahead[self.touched[e]] = 0
            self.behind[self.touched[e]] = 0
        return 1 if best != own else 0

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def add(
        self,
        c: cython.Py_ssize_t,
        n_touched: cython.Py_ssize_t,
        with_itself: cython.longlong,
        sum_ahead: cython.longlong,
        sum_behind: cython.longlong,
        sign: cython.longlong,
    ) -> cython.void:
        """Count the word at hand in class c, or (sign -1) no longer."""
        e: cython.Py_ssize_t
        d: cython.Py_ssize_t
        for e in range(n_touched):
            d = self.touched[e]
            self.pairs[c, d] += sign * self.ahead[d]
            self.turned[d, c] += sign * self.ahead[d]
            self.pairs[d, c] += sign * self.behind[d]
            self.turned[c, d] += sign * self.behind[d]
        self.pairs[c, c] += sign * with_itself
        self.turned[c, c] += sign * with_itself
        self.first[c] += sign * (sum_ahead + with_itself)
        self.second[c] += sign * (sum_behind + with_itself)

    @cython.cfunc
    @cython.nogil
    @cython.exceptval(check=False)
    def gain_in(
        self,
        c: cython.Py_ssize_t,
        n_touched: cython.Py_ssize_t,
        with_itself: cython.longlong,
        sum_ahead: cython.longlong,
        sum_behind: cython.longlong,
    ) -> cython.double:
        """By how much F grows if the word at hand, now in no class, goes to c."""
        e: cython.Py_ssize_t
        d: cython.Py_ssize_t
        n: cython.longlong
        gain: cython.double = 0.0
        for e in range(n_touched):
            d = self.touched[e]
            if d == c:
                continue
            if self.ahead[d] > 0:
                n = self.pairs[c, d]
                gain += f_of(n + self.ahead[d], self.known) - f_of(n, self.known)
            if self.behind[d] > 0:
                n = self.turned[c, d]
                gain += f_of(n + self.behind[d], self.known) - f_of(n, self.known)
        n = self.pairs[c, c]
        gain += f_of(n + self.ahead[c] + self.behind[c] + with_itself, self.known)
        gain -= f_of(n, self.known)
        n = self.first[c]
        gain -= f_of(n + sum_ahead + with_itself, self.known) - f_of(n, self.known)
        n = self.second[c]
        gain -= f_of(n + sum_behind + with_itself, self.known) - f_of(n, self.known)
        return gain


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def joined(
    a: cython.longlong, b: cython.longlong, known: cython.const[cython.double][::1]
) -> cython.double:
    """f(a + b) − f(a) − f(b), which is 0 where one of them is."""
    if a == 0 or b == 0:
        return 0.0
    return f_of(a + b, known) - f_of(a, known) - f_of(b, known)


@cython.cfunc
@cython.inline
@cython.nogil
@cython.exceptval(check=False)
def part_of(
    pairs: cython.longlong[:, ::1],
    turned: cython.longlong[:, ::1],
    i: cython.Py_ssize_t,
    j: cython.Py_ssize_t,
    k: cython.Py_ssize_t,
    known: cython.const[cython.double][::1],
) -> cython.double:
    """What class k, a third one, adds to the gain of joining i and j."""
    return joined(pairs[k, i], pairs[k, j], known) + joined(turned[k, i], turned[k, j], known)


@cython.ccall
@cython.exceptval(check=False)
def merge(
    pairs: cython.longlong[:, ::1],
    turned: cython.longlong[:, ::1],
    first: cython.longlong[::1],
    second: cython.longlong[::1],
    parts: cython.double[:, ::1],
    merges: cython.int[:, ::1],
    known: cython.const[cython.double][::1],
) -> cython.void:
    """merges[t] = the two classes that are joined in step t, under the name of the first.

    `parts` becomes, for i < j, what third classes add to the gain of joining i and j. All but a few
    of these terms stay as they are in a step, so it costs the square of the number of classes.
    The counts are changed.
    """
    i: cython.Py_ssize_t
    j: cython.Py_ssize_t
    k: cython.Py_ssize_t
    t: cython.Py_ssize_t
    a: cython.Py_ssize_t
    b: cython.Py_ssize_t
    n: cython.Py_ssize_t = pairs.shape[0]
    total: cython.longlong
    gain: cython.double
    most: cython.double
    with cython.nogil:
        for i in range(n):
            for j in range(i + 1, n):
                parts[i, j] = 0.0
        for k in range(n):
            for i in range(n):
                if i != k:
                    for j in range(i + 1, n):
                        if j != k:
                            parts[i, j] += part_of(pairs, turned, i, j, k, known)
        for t in range(n - 1):
            a = -1
            b = -1
            most = 0.0
            for i in range(n):
                if first[i] < 0:  # it has been joined to another one
                    continue
                for j in range(i + 1, n):
                    if first[j] < 0:
                        continue
                    total = pairs[i, i] + pairs[i, j] + pairs[j, i] + pairs[j, j]
                    gain = parts[i, j] + f_of(total, known) - f_of(pairs[i, i], known)
                    gain -= f_of(pairs[i, j], known) + f_of(pairs[j, i], known)
                    gain -= f_of(pairs[j, j], known)
                    gain -= joined(first[i], first[j], known)
                    gain -= joined(second[i], second[j], known)
                    if a < 0 or gain > most:
                        most = gain
                        a = i
                        b = j
            merges[t, 0] = a
            merges[t, 1] = b
            for i in range(n):
                if first[i] < 0 or i == a or i == b:
                    continue
                for j in range(i + 1, n):
                    if first[j] < 0 or j == a or j == b:
                        continue
                    parts[i, j] -= part_of(pairs, turned, i, j, a, known)
                    parts[i, j] -= part_of(pairs, turned, i, j, b, known)
            for k in range(n):
                pairs[a, k] += pairs[b, k]
                turned[a, k] += turned[b, k]
            for k in range(n):
                pairs[k, a] += pairs[k, b]
                turned[k, a] += turned[k, b]
            first[a] += first[b]
            second[a] += second[b]
            first[b] = -1
            for k in range(n):
                pairs[b, k] = 0
                pairs[k, b] = 0
                turned[b, k] = 0
                turned[k, b] = 0
            for i in range(n):
                if first[i] < 0 or i == a:
                    continue
                for j in range(i + 1, n):
                    if first[j] >= 0 and j != a:
                        parts[i, j] += part_of(pairs, turned, i, j, a, known)
            for i in range(n):
                if first[i] < 0 or i == a:
                    continue
                gain = 0.0
                for k in range(n):
                    if first[k] >= 0 and k != a and k != i:
                        gain += part_of(pairs, turned, a, i, k, known)
                if a < i:
                    parts[a, i] = gain
                else:
                    parts[i, a] = gain
