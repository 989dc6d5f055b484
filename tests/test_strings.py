"""Strings to numbers."""

from __future__ import annotations

import re
from collections import Counter, namedtuple
from importlib.util import module_from_spec, spec_from_file_location
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seqpa._kernel import strings
from seqpa.data.lines import Pool
from seqpa.sequence.affixes import Affixes, spelling

words = st.lists(st.sampled_from(["", "a", "b", "ä", "日本", "a b"]))
cells = st.lists(st.lists(st.tuples(st.text(max_size=2), st.text(max_size=2))))


@pytest.mark.pure
@given(words, words, st.sampled_from([1, 2, 64]), st.data())
def test_known_words_keep_their_numbers_and_new_ones_get_the_next(known, more, room, data) -> None:
    numbers = {word: number for number, word in enumerate(dict.fromkeys(known))}
    before = dict(numbers)
    fresh: dict[str, int] = {}
    out = np.full(len(more), -7, np.int32)
    # One object for a word or several, as they come.
    more = [word if i % 3 else "".join(list(word)) for i, word in enumerate(more)]
    begin, last = data.draw(st.integers(0, 2)), np.zeros(room, np.int32)
    if data.draw(st.booleans()):  # what another call left does no harm
        strings.number(
            [*more, "c"], 0, len(more) + 1, {}, {}, last, np.zeros(len(more) + 1, np.int32)
        )
    around = [*[None] * begin, *more, None]
    assert strings.number(around, begin, begin + len(more), numbers, fresh, last, out) == -1
    assert numbers == before
    assert list(fresh) == [word for word in dict.fromkeys(more) if word not in numbers]
    names = [*numbers, *fresh]
    assert [names[number] for number in out] == more


@pytest.mark.pure
def test_the_first_that_is_not_a_string_is_named() -> None:
    out, last = np.zeros((2, 4), np.int32)
    assert strings.number(["a", np.str_("b"), None, 3], 0, 4, {}, {}, last, out) == 2
    assert strings.number([None, "a", b"a"], 1, 3, {}, {}, last, out) == 2


@pytest.mark.pure
@given(words)
def test_values_that_are_not_known_are_absent(values) -> None:
    out = np.full(len(values) + 1, -7, np.int32)
    strings.look_up([*values, None], {"a": 0, "日本": 5}, out)
    assert out.tolist() == [*({"a": 0, "日本": 5}.get(value, -1) for value in values), -1]


@pytest.mark.pure
@given(cells)
def test_a_column_is_one_cell_of_every_token(sentences) -> None:
    tokens = [token for sentence in sentences for token in sentence]
    expected = [[token[place] for token in tokens] for place in (0, 1)]
    assert strings.columns_of(sentences, 2) == expected
    for kind in (tuple, type("Own", (list,), {})):
        assert strings.columns_of(kind(map(kind, sentences)), 2) == expected


@pytest.mark.pure
@pytest.mark.parametrize("token", ["ab", ["a", "b"], ("a",), ("a", "b", "c"), None])
def test_a_token_that_is_no_tuple_of_that_width_is_noticed(token) -> None:
    pair = namedtuple("pair", "word pos")("a", "b")
    assert strings.columns_of([[("a", "b"), pair]], 2) == [["a", "a"], ["b", "b"]]
    assert strings.columns_of([[("a", "b")], [token]], 2) is None


@pytest.mark.pure
def test_a_single_column_may_stand_without_tuples() -> None:
    assert strings.columns_of([["a", ("b",)], [], [None]], 1) == [["a", "b", None]]
    assert strings.columns_of([["a", ("b", "c")]], 1) is None


@pytest.mark.pure
@given(words, st.integers(1, 4))
def test_affixes_of_words_that_are_long_enough(some, length) -> None:
    some = [*some, np.str_("abcde")]
    long = [len(word) >= length for word in some]
    cut = strings.prefixes(some, length), strings.suffixes(some, length)
    for word, enough, prefix, suffix in zip(some, long, *cut, strict=True):
        assert (prefix, suffix) == ((word[:length], word[-length:]) if enough else (None, None))


@pytest.mark.pure
@given(st.lists(st.lists(st.integers(0, 2))))
def test_numbers_are_spelled_sentence_by_sentence(sentences) -> None:
    flat = np.array([number for sentence in sentences for number in sentence], np.int32)
    starts = np.cumsum([0, *map(len, sentences)])
    spelled = strings.spell(["N", "V", "D"], flat, starts)
    assert spelled == [["NVD"[number] for number in sentence] for sentence in sentences]


@pytest.mark.pure
@given(st.lists(st.text(max_size=3)))
def test_flags_are_true_where_a_character_has_the_property(words) -> None:
    def expected(test):
        return ["" if any(map(test, word)) else None for word in words]

    assert strings.with_upper(words) == expected(str.isupper)
    assert strings.with_digit(words) == expected(re.compile(r"\d").match)
    assert strings.with_hyphen(words) == expected("-".__eq__)


@pytest.mark.pure
@pytest.mark.parametrize("separator", [" ", "\t"])
@given(st.integers(1, 4), st.data())
def test_cells_are_those_of_a_plain_split(separator: str, width: int, data: st.DataObject) -> None:
    cell = st.text(st.sampled_from("abé語𝄞-"), max_size=3)
    rows = data.draw(st.lists(st.lists(cell, min_size=width, max_size=width), min_size=1))
    asked = data.draw(st.lists(st.booleans(), min_size=width, max_size=width))
    lines = [separator.join(row).encode() for row in rows]
    begins = np.cumsum([0, *(len(line) + 1 for line in lines[:-1])], dtype=np.int64)
    wanted = np.full(width, -1, np.int64)
    wanted[asked] = np.arange(sum(asked))
    text = np.frombuffer(b"\n".join(lines) + b"\n", np.uint8)
    found = cells_of(strings, text, begins, separator, wanted)
    expected = [[row[k] for row in rows] for k in range(width) if asked[k]]
    assert [[cell.decode() for cell in column] for column in found] == expected


def cells_of(module, text, begins, separator, wanted, slots=None):
    """The cells by columns, as `cells` finds them, each equal to all that have its number."""
    most = len(wanted) * len(begins)
    table = np.zeros(slots or 1 << (2 * most).bit_length(), np.int32)
    first, ends = np.empty((2, most), np.int32)
    out = np.empty((int((wanted >= 0).sum()), len(begins)), np.int32)
    n = module.cells(text, begins, ord(separator), wanted, table, first, ends, out)
    known = [bytes(text[a:b]) for a, b in zip(first[:n], ends[:n], strict=True)]
    assert len(set(known)) == n
    return [[known[number] for number in row] for row in out.tolist()]


@pytest.mark.pure
@given(st.lists(st.lists(st.text(st.sampled_from("abé語"), max_size=3), max_size=6)))
def test_a_pool_knows_strings_again(blocks: list[list[str]]) -> None:
    pool = Pool()
    one: dict[str, str] = {}
    for block in blocks:
        cells = [cell.encode() for cell in block]
        ends = np.cumsum([0, *map(len, cells)], dtype=np.int32)
        data = np.frombuffer(b"".join(cells), np.uint8)
        found = pool.strings_of(data, ends[:-1].copy(), ends[1:].copy())
        assert found == block
        assert all(one.setdefault(cell, cell) is cell for cell in found)
    assert pool == one


@pytest.mark.pure
@given(st.lists(st.text(st.sampled_from("abé語"), max_size=4)), st.integers(1, 3), st.booleans())
def test_affixes_are_numbered_by_their_first_word(words, length, at_end) -> None:
    codes, ends = spelling(words)
    table = np.zeros(1 << (2 * len(words)).bit_length(), np.int32)
    first, out = np.empty((2, len(words)), np.int32)
    size = strings.enter_affixes(codes, ends, length, at_end, table, first, out)
    cut = strings.suffixes if at_end else strings.prefixes
    known: dict[str, int] = {}
    expected = np.empty(len(words), np.int32)
    strings.enter(cut(words, length), known, expected)
    assert (out == expected).all()
    assert cut([words[i] for i in first[:size]], length) == list(known)


def keyed(base: int | None = None, factor: int | None = None) -> ModuleType:
    """The source as a module of its own, with its own keys or with these."""
    spec = spec_from_file_location("keyed", Path(strings.__file__).with_name("strings.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    if base is not None:
        module._BASE, module._FACTOR = base, factor
    return module


# Words that agree under 31·a + b, as long as one likes, and under other small factors.
COLLIDING = ["".join(pair) for pair in product(["Aa", "BB"], repeat=8)]


@pytest.mark.pure
@pytest.mark.parametrize("keys", [(None, None), (31, 1), (0, 0), (1 << 30, 1 << 30)])
def test_no_result_depends_on_the_keys(keys: tuple[int | None, int | None]) -> None:
    """With a base of 0 only the last character counts, with a factor of 0 nothing does: cells that
    share their place in a table stay apart, in the smallest table that is allowed."""
    module = keyed(*keys)
    row = [*COLLIDING[:6], "Aa", "BB", "", "é"]
    line = " ".join(row).encode()
    text, begins = np.frombuffer(line + b"\n" + line, np.uint8), np.array([0, len(line) + 1])
    found_cells = cells_of(module, text, begins, " ", np.arange(len(row)), 64)
    assert found_cells == [[cell.encode()] * 2 for cell in row]
    known, words = np.frombuffer("AaBB".encode("utf-32-le"), np.uint32), "xAaBBAb"
    table, out = np.zeros(4, np.int32), np.empty((1, 1), np.int32)
    module.index_affixes(known, 2, table)
    codes, asked = np.frombuffer(words.encode("utf-32-le"), np.uint32), [[0, 2, 1, 0, 0, 4]]
    found = []
    for begin, end in ((1, 3), (0, 5), (0, 7)):
        module.find_affixes(codes, np.array([begin, end]), np.array(asked), known, table, out)
        found.append(int(out[0, 0]))
    assert found == [0, 1, -1]


def test_words_cannot_be_chosen_to_share_a_hash() -> None:
    """A 31-polynomial gave all of these one place, and a table of them took quadratic time."""
    values = []
    for _ in range(2):
        module = keyed()
        codes = [np.frombuffer(word.encode("utf-32-le"), np.uint32) for word in COLLIDING]
        values.append([module._hashed(code, 0, len(code)) for code in codes])
        assert len(set(values[-1])) > len(COLLIDING) - 3  # but for what chance may bring
        places = Counter(value % 1024 for value in values[-1])
        assert max(places.values()) < 12
    assert values[0] != values[1], "each process has its own keys"


@pytest.mark.pure
@given(
    st.lists(st.text("ab日\U0001f600\ud800\0", max_size=4)),
    st.lists(st.text("ab日\U0001f600\ud800\0", max_size=4)),
)
def test_affixes_are_found_as_if_they_were_cut_out(known, some) -> None:
    kinds = {1: (1, False), 2: (2, True), 4: (3, False), 5: (3, True)}
    cut = {k: strings.suffixes if at_end else strings.prefixes for k, (_, at_end) in kinds.items()}
    values: list[dict[str, int]] = [{} for _ in range(6)]
    for k, (length, _) in kinds.items():
        there = [value for value in cut[k](known, length) if value is not None]
        values[k] = {value: number for number, value in enumerate(dict.fromkeys(there))}
    some = [*some, np.str_("abab")]
    found = np.full((6, len(some)), 7, np.int32)
    expected = found.copy()
    for k, (length, _) in kinds.items():
        strings.look_up(cut[k](some, length), values[k], expected[k])
    affixes = Affixes(kinds)
    affixes.look_up(some, values, found)
    np.testing.assert_array_equal(found, expected)
    # What has been learned since is found as well.
    values[2].setdefault("b日", len(values[2]))
    later = np.zeros((6, 2), np.int32)
    affixes.look_up(["b日", "ab日"], values, later)
    assert later[2].tolist() == [values[2]["b日"]] * 2
