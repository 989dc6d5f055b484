from __future__ import annotations

import copy
import json
import math
import pickle
import random
import re
from collections import UserDict
from concurrent.futures import ThreadPoolExecutor
from itertools import chain, pairwise
from types import MappingProxyType
from unittest import mock

import numpy as np
import pycrfsuite
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seqpa import SequenceTagger
from seqpa._kernel.template_features import BLOCK
from seqpa.errors import SeqpaError
from seqpa.sequence.dicts import DictEncoder
from seqpa.sequence.encode import Encoded, FeatureEncoder
from seqpa.sequence.resources import Clusters, Lexicon

COLUMNS = ("word", "pos")
CITIES = Lexicon(["New York", "New York City", "Ab"])
TREE = Clusters({"New": "0110", "Ab": "01", "é": "111"})
RESOURCES = {"cities": CITIES, "tree": TREE}


def shape_of(word: str) -> str:
    return "".join(
        "X" if c.isupper() or c.istitle() else "x" if c.isalpha() else "d" if c.isdigit() else c
        for c in word
    )


def flag(test: bool) -> str | None:
    return "" if test else None


def starts_entry(words: list[str], i: int) -> int:
    return max((len(e) for e in CITIES.entries if tuple(words[i : i + len(e)]) == e), default=0)


def lexicon_value(words: list[str], i: int) -> str | None:
    at = 0
    while at <= i:
        length = starts_entry(words, at)
        if length and at + length > i:
            return "B" if at == i else "I"
        at += length or 1
    return None


# What each attribute is, said once more and plainly: (words of a sentence, position) -> value.
ATTRIBUTES = {
    "word": lambda ws, i: ws[i],
    "lower": lambda ws, i: ws[i].lower(),
    "prefix(2)": lambda ws, i: ws[i][:2] if len(ws[i]) > 1 else None,
    "suffix(1)": lambda ws, i: ws[i][-1] if ws[i] else None,
    "suffix(3)": lambda ws, i: ws[i][-3:] if len(ws[i]) > 2 else None,
    "first(2)": lambda ws, i: ws[i][:2],
    "last(3)": lambda ws, i: ws[i][-3:],
    "shape": lambda ws, i: shape_of(ws[i]),
    "shortshape": lambda ws, i: re.sub(r"(?s)(.)\1*", r"\1", shape_of(ws[i])),
    "length": lambda ws, i: str(len(ws[i])),
    "istitle": lambda ws, i: flag(ws[i].istitle()),
    "isdigit": lambda ws, i: flag(ws[i].isdigit()),
    "hasupper": lambda ws, i: flag(any(c.isupper() for c in ws[i])),
    "hashyphen": lambda ws, i: flag("-" in ws[i]),
    'regex("^[A-Z].*b")': lambda ws, i: flag(re.search("^[A-Z].*b", ws[i]) is not None),
    'lexicon("cities")': lexicon_value,
    'cluster("tree", 2)': lambda ws, i: TREE.paths[ws[i]][:2] if ws[i] in TREE.paths else None,
    'cluster("tree")': lambda ws, i: TREE.paths.get(ws[i]),
}
FLAGS = {"istitle", "isdigit", "hasupper", "hashyphen", 'regex("^[A-Z].*b")'}


def of_pos(name: str) -> str:
    """The same attribute of the second column."""
    if name == "word":
        return "pos"
    return name[:-1] + ", pos)" if name.endswith(")") else name + "(pos)"


def naive_names(
    templates: list[tuple[bool, list[tuple[str, bool, int]]]], sentence: list[tuple[str, str]]
) -> list[list[str]]:
    """Each token's feature names; a part is (attribute, of the pos column?, offset)."""
    tokens = []
    for i in range(len(sentence)):
        names = []
        for pair, parts in templates:
            found = []
            for attribute, second, offset in parts:
                head = f"{of_pos(attribute) if second else attribute}[{offset}]"
                j = i + offset
                if j < 0:
                    found.append(f"{head}=<-{-j}>")
                elif j >= len(sentence):
                    found.append(f"{head}=<+{j - len(sentence) + 1}>")
                else:
                    value = ATTRIBUTES[attribute]([token[second] for token in sentence], j)
                    bare = attribute in FLAGS
                    found.append(value if value is None else head if bare else f"{head}={value}")
            if None not in found:
                names.append(("pair:" if pair else "") + "|".join(found))
        tokens.append(names)
    return tokens


def text_of(template: tuple[bool, list[tuple[str, bool, int]]]) -> str:
    pair, parts = template
    return ("pair:" if pair else "") + "|".join(
        f"{of_pos(name) if second else name}[{offset}]" for name, second, offset in parts
    )


parts = st.tuples(st.sampled_from(sorted(ATTRIBUTES)), st.booleans(), st.integers(-3, 3))
template_lists = st.lists(
    st.tuples(st.sampled_from([False, False, True]), st.lists(parts, min_size=1, max_size=4)),
    min_size=1,
    max_size=6,
    unique_by=text_of,
)
words = st.one_of(
    st.sampled_from(["New", "York", "City", "Ab", "a", "b-1", "12", ""]),
    st.text(st.characters(), max_size=3),
)
tags = st.sampled_from(["N", "NN", "New", "York"])
corpora = st.lists(st.lists(st.tuples(words, tags), max_size=6), max_size=5)


def flat(corpus: list[list[tuple[str, str]]]) -> tuple[list[list[str]], list[int]]:
    columns = [[token[c] for sentence in corpus for token in sentence] for c in range(2)]
    return columns, [len(sentence) for sentence in corpus]


def names_of(encoder, encoded: Encoded) -> list[list[str]]:
    """The encoder's ids as names again, token by token, pair features behind the others."""
    tokens = []
    for i in range(len(encoded.indptr) - 1):
        ids = encoded.features[encoded.indptr[i] : encoded.indptr[i + 1]]
        tokens.append([encoder.feature_name(f) for f in ids])
        if encoded.pair_indptr is not None:
            pairs = encoded.pair_features[encoded.pair_indptr[i] : encoded.pair_indptr[i + 1]]
            tokens[-1] += [encoder.pair_feature_name(f) for f in pairs]
    return tokens


def expected_names(templates, corpus) -> list[list[str]]:
    ordered = sorted(templates, key=lambda template: template[0])
    return [names for sentence in corpus for names in naive_names(ordered, sentence)]


def make(templates, cutoff: int = 1) -> FeatureEncoder:
    return FeatureEncoder([text_of(t) for t in templates], COLUMNS, cutoff, RESOURCES)


def same(a: Encoded, b: Encoded) -> None:
    for name in Encoded.__slots__:
        x, y = getattr(a, name), getattr(b, name)
        assert (x is None) == (y is None)
        if x is not None:
            assert x.dtype == y.dtype
            np.testing.assert_array_equal(x, y)


def ordered_names(tokens: list[list[str]]) -> list[str]:
    return list(dict.fromkeys(name for names in tokens for name in names))


@pytest.mark.pure
@given(template_lists, corpora, corpora)
def test_encoding_equals_the_naive_extractor(templates, corpus, other) -> None:
    check_against_the_naive_extractor(templates, corpus, other)


def check_against_the_naive_extractor(templates, corpus, other) -> None:
    encoder = make(templates)
    encoded = encoder.fit_transform(*flat(corpus))
    expected = expected_names(templates, corpus)
    assert names_of(encoder, encoded) == expected
    assert encoded.starts.tolist() == [0, *np.cumsum([len(s) for s in corpus])]
    known = ordered_names(expected)
    # Ids are dense: each feature has one, and none is left over.
    own, pairs = encoder.feature_names(), encoder.pair_feature_names()
    assert sorted(own) == sorted(n for n in known if not n.startswith("pair:"))
    assert sorted(pairs) == sorted(n for n in known if n.startswith("pair:"))
    assert (encoder.n_features, encoder.n_pair_features) == (len(own), len(pairs))
    same(encoder.transform(*flat(corpus)), encoded)
    unseen = encoder.transform(*flat(other))
    assert names_of(encoder, unseen) == [
        [name for name in names if name in set(known)] for names in expected_names(templates, other)
    ]


def test_templates_of_one_shape_over_sentences_of_several_blocks() -> None:
    """Combinations are numbered once for all templates of a shape, block by block."""
    rng = np.random.default_rng(3)
    lengths = [1, BLOCK - 1, BLOCK, BLOCK + 1, 0, 3 * BLOCK + 2, 2]
    corpus = [
        [(str(word), str(tag)) for word, tag in rng.integers(0, (40, 4), (n, 2))] for n in lengths
    ]
    shapes = [[("word", False, 0), ("word", False, 1)], [("word", True, 0), ("word", True, -1)]]
    shapes.append([*shapes[1], ("word", True, 2)])
    templates = [
        (False, [(name, second, offset + shift) for name, second, offset in parts])
        for parts in shapes
        for shift in (-2, -1, 0, 1, 3)
    ]
    check_against_the_naive_extractor(templates, corpus[:4], corpus[3:])


@settings(max_examples=50)
@given(template_lists, corpora, corpora)
def test_extending_keeps_old_ids_and_equals_one_fit_of_all(templates, corpus, other) -> None:
    encoder = make(templates)
    first = encoder.fit_transform(*flat(corpus))
    old = encoder.feature_names()
    second = encoder.extend_transform(*flat(other))
    assert encoder.feature_names()[: len(old)] == old
    same(encoder.transform(*flat(corpus)), first)
    same(encoder.transform(*flat(other)), second)
    whole = make(templates)
    whole.fit_transform(*flat(corpus + other))
    assert sorted(whole.feature_names()) == sorted(encoder.feature_names())
    assert sorted(whole.pair_feature_names()) == sorted(encoder.pair_feature_names())


@settings(max_examples=50)
@given(template_lists, corpora, corpora, st.integers(2, 3))
def test_the_cutoff_drops_rare_features(templates, corpus, other, cutoff) -> None:
    encoder = make(templates, cutoff)
    encoded = encoder.fit_transform(*flat(corpus))
    expected = expected_names(templates, corpus)
    all_names = [name for names in expected for name in names]
    enough = {name for name in all_names if all_names.count(name) >= cutoff}
    assert names_of(encoder, encoded) == [[n for n in ns if n in enough] for ns in expected]
    assert encoder.n_features + encoder.n_pair_features == len(enough)
    # A later corpus brings in what is frequent there, and counts afresh.
    later = encoder.extend_transform(*flat(other))
    expected = expected_names(templates, other)
    all_names = [name for names in expected for name in names]
    enough |= {name for name in all_names if all_names.count(name) >= cutoff}
    assert names_of(encoder, later) == [[n for n in ns if n in enough] for ns in expected]


@settings(max_examples=50)
@given(template_lists, corpora, corpora, st.randoms(use_true_random=False))
def test_pruning_keeps_exactly_the_chosen_features(templates, corpus, other, random) -> None:
    encoder = make(templates)
    encoder.fit_transform(*flat(corpus))
    keep = np.array([random.random() < 0.5 for _ in range(encoder.n_features)], bool)
    keep_pairs = np.array([random.random() < 0.5 for _ in range(encoder.n_pair_features)], bool)
    pruned = FeatureEncoder.from_arrays(*encoder.to_arrays(keep, keep_pairs))
    left = [n for n, k in zip(encoder.feature_names(), keep, strict=True) if k]
    left_pairs = [n for n, k in zip(encoder.pair_feature_names(), keep_pairs, strict=True) if k]
    assert pruned.feature_names() == left
    assert pruned.pair_feature_names() == left_pairs
    left_set = {*left, *left_pairs}
    for text in (corpus, other):
        assert names_of(pruned, pruned.transform(*flat(text))) == [
            [name for name in names if name in left_set]
            for names in expected_names(templates, text)
        ]
    # It can go on learning.
    both = pruned.extend_transform(*flat(other))
    assert names_of(pruned, both) == expected_names(templates, other)


@settings(max_examples=50)
@given(template_lists, corpora, corpora)
def test_arrays_and_pickle_bring_back_the_same_encoder(templates, corpus, other) -> None:
    encoder = make(templates)
    encoder.fit_transform(*flat(corpus))
    arrays, header = encoder.to_arrays()
    for array in arrays.values():
        array.flags.writeable = False  # as memory-mapped ones are
    again = FeatureEncoder.from_arrays(arrays, json.loads(json.dumps(header)))
    copied = pickle.loads(pickle.dumps(encoder))
    expected = encoder.transform(*flat(other))
    for twin in (again, copied, copy.deepcopy(encoder)):
        same(twin.transform(*flat(other)), expected)
        assert twin.feature_names() == encoder.feature_names()
        assert (twin.n_features, twin.cutoff) == (encoder.n_features, encoder.cutoff)
    grown = encoder.extend_transform(*flat(other))
    same(again.extend_transform(*flat(other)), grown)


SMALL = ["word", "suffix(2)|pos[1]", "lower[-1]|pos|word[1]", 'lexicon("cities")', "pair:pos"]
SMALL += ['cluster("tree", 2)|istitle']


def small_encoder() -> FeatureEncoder:
    encoder = FeatureEncoder(SMALL, COLUMNS, 1, RESOURCES)
    encoder.fit_transform([["New", "York", "é", "New"], ["N", "N", "NN", "N"]], [3, 1])
    return encoder


@pytest.mark.pure
@settings(max_examples=300)
@given(st.data())
def test_a_damaged_encoder_is_an_error_and_never_a_wrong_index(data) -> None:
    arrays, header = small_encoder().to_arrays()
    arrays = {name: array.copy() for name, array in arrays.items()}
    name = data.draw(st.sampled_from(sorted(arrays)))
    array = arrays[name]
    damage = data.draw(st.sampled_from(["value", "length", "dtype", "missing", "shape"]))
    if damage == "value" and array.size:
        at = data.draw(st.integers(0, array.size - 1))
        info = np.iinfo(array.dtype)
        array.flat[at] = data.draw(
            st.one_of(st.integers(-3, 9), st.integers(info.min, info.max)).filter(
                lambda v: info.min <= v <= info.max
            )
        )
    elif damage == "length":
        arrays[name] = array[: data.draw(st.integers(0, len(array)))]
    elif damage == "dtype":
        arrays[name] = array.astype(np.float32)
    elif damage == "missing":
        del arrays[name]
    else:
        arrays[name] = array.reshape(-1, 1)
    try:
        encoder = FeatureEncoder.from_arrays(arrays, header)
    except SeqpaError:
        return
    # What passes is consistent: it encodes, names and extends within its own bounds.
    encoded = encoder.transform([["New", "York", "x"], ["N", "N", "V"]], [2, 1])
    assert (encoded.features < encoder.n_features).all()
    assert len(encoder.feature_names()) == encoder.n_features
    encoder.extend_transform([["Ab", "York", "x"], ["N", "N", "V"]], [2, 1])


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("encoder", "dicts"),
        ("templates", None),
        ("templates", ["word["]),
        ("templates", [3]),
        ("templates", []),
        ("templates", [*SMALL[:1], "suffix(3)|pos[1]", *SMALL[2:]]),
        ("columns", "word"),
        ("columns", ["word"]),
        ("cutoff", "1"),
        ("resources", []),
        ("resources", [["lexicon"]]),
        ("resources", [["code", "cities"], ["clusters", "tree"]]),
        ("resources", ["ab", "cd"]),
    ],
)
def test_a_damaged_header_is_an_error(key: str, value: object) -> None:
    arrays, header = small_encoder().to_arrays()
    with pytest.raises(SeqpaError):
        FeatureEncoder.from_arrays(arrays, header | {key: value})


def test_empty_corpora_and_single_tokens() -> None:
    encoder = FeatureEncoder(["word[-1]|word[1]", "pair:word"])
    encoded = encoder.fit_transform([[]], [])
    assert encoded.starts.tolist() == encoded.indptr.tolist() == [0]
    assert encoder.n_features == encoder.n_pair_features == 0
    assert encoder.transform([["a"]], [1]).features.tolist() == []
    encoder.fit_transform([["a"]], [0, 1, 0])
    assert encoder.feature_names() == ["word[-1]=<-1>|word[1]=<+1>"]
    assert encoder.pair_feature_names() == ["pair:word[0]=a"]


def test_wrong_input_is_an_error_with_its_place() -> None:
    encoder = FeatureEncoder(["word"], COLUMNS)
    with pytest.raises(SeqpaError, match="1 columns where 2 are expected: word, pos"):
        encoder.fit_transform([["a"]], [1])
    with pytest.raises(SeqpaError, match="lengths sum to 2, but there are 1 tokens"):
        encoder.fit_transform([["a"], ["N"]], [2])
    with pytest.raises(SeqpaError, match="column 'pos' has 2 tokens, the first 1"):
        encoder.fit_transform([["a"], ["N", "N"]], [1])
    message = r"sentence 2, token 1, column 'pos': expected a string, not None"
    with pytest.raises(SeqpaError, match=message):
        encoder.fit_transform([["a", "b", "c"], ["N", "N", None]], [2, 1])
    for cutoff in (0, 1.5, True):
        with pytest.raises(SeqpaError, match="cutoff"):
            FeatureEncoder(["word"], cutoff=cutoff)
    with pytest.raises(SeqpaError, match="no lexicon is named 'x'; none was given"):
        FeatureEncoder(['lexicon("x")'])
    with pytest.raises(SeqpaError, match="'cities' is used as clusters but is a Lexicon"):
        FeatureEncoder(['cluster("cities")'], resources=RESOURCES)
    with pytest.raises(SeqpaError, match="cannot be both"):
        FeatureEncoder(['cluster("tree")', 'lexicon("tree")'], resources=RESOURCES)
    encoder.fit_transform([["a"], ["N"]], [1])
    with pytest.raises(SeqpaError, match="mask of 1 booleans"):
        encoder.to_arrays([1])


def test_many_threads_may_transform_at_once() -> None:
    rng = np.random.default_rng(5)
    texts = [[f"w{n}" for n in rng.integers(0, 500, 400)] for _ in range(8)]
    encoder = FeatureEncoder(["word[-1]|word[0]", "suffix(1)", "lower[1]"])
    encoder.fit_transform([texts[0]], [400])
    expected = [encoder.transform([text], [100, 300]) for text in texts]
    with ThreadPoolExecutor(4) as pool:
        for _ in range(5):
            for a, b in zip(
                expected, pool.map(lambda t: encoder.transform([t], [100, 300]), texts), strict=True
            ):
                same(a, b)


# Tokens that already are features.

keys = st.sampled_from(["a", "b", "a:b", "", "é", "w.lower()"])
floats = st.floats(-9, 9, width=32)
scalars = st.one_of(keys, st.booleans(), st.integers(-3, 3), floats)
nested = st.recursive(
    st.one_of(scalars, st.lists(keys, max_size=3), st.sets(keys)),
    lambda inner: st.dictionaries(keys, inner, max_size=3),
    max_leaves=4,
)
tokens = st.one_of(st.dictionaries(keys, nested, max_size=4), st.lists(keys, max_size=4))


def token_of(encoder: DictEncoder, encoded: Encoded, i: int) -> dict[str, float]:
    span = slice(encoded.indptr[i], encoded.indptr[i + 1])
    ids = encoded.features[span].tolist()
    assert len(set(ids)) == len(ids)
    values = np.ones(len(ids)) if encoded.values is None else encoded.values[span]
    return dict(zip(map(encoder.feature_name, ids), values.tolist(), strict=True))


def pairs_of(name: str, value: object) -> list[tuple[str, float]]:
    """All features of a dict's entry, written from the conventions."""
    if isinstance(value, str):
        return [(f"{name}:{value}", 1.0)]
    if isinstance(value, dict):
        return [p for k, v in value.items() for p in pairs_of(f"{name}:{k}", v)]
    if isinstance(value, (list, set)):
        return [(f"{name}:{v}", 1.0) for v in value]
    return [(name, float(value))]


@pytest.mark.pure
@given(st.lists(st.lists(tokens, max_size=3), max_size=3), st.lists(tokens, max_size=3))
def test_dicts_follow_crfsuites_conventions(corpus, other) -> None:
    encoder = DictEncoder()
    encoded = encoder.fit_transform(corpus)
    flat_tokens = [token for sentence in corpus for token in sentence]
    for i, token in enumerate(flat_tokens):
        pairs = (
            [p for k, v in token.items() for p in pairs_of(k, v)]
            if isinstance(token, dict)
            else [(name, 1.0) for name in token]
        )
        # The names are CRFsuite's own; its dict shows only the last of a repeated feature.
        (item,) = pycrfsuite.ItemSequence([token]).items()
        assert item.keys() == {name for name, _ in pairs}
        sums: dict[str, float] = {}
        for name, value in pairs:
            sums[name] = sums.get(name, 0.0) + value
        found = token_of(encoder, encoded, i)
        assert {n: v for n, v in found.items() if v} == pytest.approx(
            {n: v for n, v in sums.items() if np.float32(v)}, rel=1e-6
        )
        if len(pairs) == len(sums):
            assert found == {n: v for n, v in item.items() if v}
    same(encoder.transform(corpus), encoded)
    arrays, header = encoder.to_arrays()
    again = DictEncoder.from_arrays(arrays, json.loads(json.dumps(header)))
    same(again.transform([other]), encoder.transform([other]))
    old = encoder.feature_names()
    extended = encoder.extend_transform([other])
    assert encoder.feature_names()[: len(old)] == old
    same(encoder.transform([other]), extended)


@pytest.mark.pure
def test_tokens_of_many_features_nested_ones_and_repeated_ones() -> None:
    many = [f"f{k % 90}" for k in range(100)]
    deep = {"d": {str(k): {"x": ["y", "z"]} for k in range(40)}}
    corpus = [[many, deep, {"w": "a"}], [], [[*many, "f3"], {"w:a": 2.0, "w": "a"}]]
    encoder = DictEncoder()
    encoded = encoder.fit_transform(corpus)
    found = [token_of(encoder, encoded, i) for i in range(5)]
    assert found[0] == {f"f{k}": 2.0 if k < 10 else 1.0 for k in range(90)}
    assert found[1] == {f"d:{k}:x:{end}": 1.0 for k in range(40) for end in "yz"}
    assert found[2] == {"w:a": 1.0}
    assert found[3] == found[0] | {"f3": 3.0}
    assert found[4] == {"w:a": 3.0}
    assert encoder.feature_names() == list(dict.fromkeys(name for one in found for name in one))


class NaiveEncoder:
    """A Python dict from strings to numbers: what the tables of the kernel must come to."""

    def __init__(self, cutoff: int) -> None:
        self.numbers: dict[str, int] = {}
        self.cutoff = cutoff

    def encode(self, corpus, grow: bool) -> list[dict[str, float]]:
        flat = [token for sentence in corpus for token in sentence]
        found = []
        for token in flat:
            sums: dict[str, float] = {}
            entries = token.items() if isinstance(token, dict) else [(name, 1) for name in token]
            for name, value in entries:
                if value:
                    feature = f"{name}:{value}" if isinstance(value, str) else name
                    sums[feature] = sums.get(feature, 0.0) + (
                        1.0 if isinstance(value, str) else float(value)
                    )
            found.append(sums)
        if grow:
            tokens = [feature for sums in found for feature in sums]
            for feature in tokens:
                if tokens.count(feature) >= self.cutoff:
                    self.numbers.setdefault(feature, len(self.numbers))
        return [{f: v for f, v in sums.items() if f in self.numbers} for sums in found]


names = st.text("ab:é€\U0001f600", max_size=3)
plain_tokens = st.one_of(
    st.lists(names, max_size=5),
    st.dictionaries(
        names, st.one_of(names.filter(bool), st.booleans(), st.integers(1, 3)), max_size=5
    ),
)
plain_corpora = st.lists(st.lists(plain_tokens, max_size=4), max_size=4)


@pytest.mark.pure
@settings(max_examples=150)
@given(
    st.lists(st.tuples(st.sampled_from(["extend", "tag", "fail", "copy"]), plain_corpora)),
    st.data(),
)
def test_tables_of_features_are_a_dict(steps, data) -> None:
    """Lists and dicts in any turn, cutoffs, errors on the way, copies: numbers as of a dict."""
    cutoff = data.draw(st.integers(1, 2))
    encoder, naive = DictEncoder(cutoff), NaiveEncoder(cutoff)
    for step, corpus in steps:
        if step == "copy":
            encoder = pickle.loads(pickle.dumps(encoder))
        elif step == "fail":
            with pytest.raises(SeqpaError):
                encoder.extend_transform([*corpus, [["new", 3]]])
        else:
            call = encoder.extend_transform if step == "extend" else encoder.transform
            encoded = call(corpus)
            expected = naive.encode(corpus, step == "extend")
            assert [token_of(encoder, encoded, i) for i in range(len(expected))] == expected
        assert encoder.feature_names() == list(naive.numbers)


@pytest.mark.pure
def test_tables_of_features_grow() -> None:
    encoder = DictEncoder()
    words = [f"w{i}" for i in range(3000)]
    encoder.fit_transform([[[word]] for word in words[:1500]])
    encoder.extend_transform([[{"x": word}] for word in words[:1500]])
    encoder.extend_transform([[[word]] for word in words])
    assert encoder.feature_names() == [
        *words[:1500],
        *[f"x:{word}" for word in words[:1500]],
        *words[1500:],
    ]
    for form in ([[[word]] for word in words], [[{word: True}] for word in words]):
        numbers = encoder.transform(form).features.tolist()
        assert numbers == [*range(1500), *range(3000, 4500)]
    whole = encoder.transform([[[f"x:{word}"]] for word in words])
    parts = encoder.transform([[{"x": word}] for word in words])
    assert whole.features.tolist() == parts.features.tolist() == list(range(1500, 3000))


def test_tokens_of_all_kinds_in_turn_need_no_new_tables(monkeypatch: pytest.MonkeyPatch) -> None:
    # What comes into one table is taken over by the other, not all that is in both made anew.
    made = []
    enlarge = DictEncoder.enlarge
    monkeypatch.setattr(
        DictEncoder, "enlarge", lambda *given: made.append(given[1]) or enlarge(*given)
    )
    tokens = [
        token
        for i in range(500)
        for token in ([f"a{i}"], {"b": f"{i}"}, {"c": [f"{i}"]}, {"b": f"{i}", "d": f"{i - 1}"})
    ]
    encoder = DictEncoder()
    encoded = encoder.fit_transform([tokens])
    assert len(made) < 12
    assert [len(token_of(encoder, encoded, i)) for i in range(4)] == [1, 1, 1, 2]
    assert encoder.n_features == 2000


class Emptying(dict):
    """A token that changes another one while it is read."""

    def __init__(self, other: dict) -> None:
        super().__init__(x="1")
        self.other = other

    def items(self):
        self.other.clear()
        self.other["y"] = "".join(["new", "er"])
        return super().items()


def test_tokens_may_change_while_others_are_read() -> None:
    encoder = DictEncoder()
    for _ in range(50):
        last = {f"w{i}": str(i) for i in range(20)}
        encoder.fit_transform([[{"a": "b"}, Emptying(last), {"c": "d"}, last]])
        assert encoder.feature_names() == ["a:b", "x:1", "c:d", "y:newer"]


def test_dicts_with_cutoff_and_pruning() -> None:
    corpus = [[{"w": "a", "x": 2.0}, {"w": "b", "x": -1.5}], [["w:a", "z"], {"w": "c"}]]
    encoder = DictEncoder(cutoff=2)
    encoded = encoder.fit_transform(corpus)
    assert encoder.feature_names() == ["w:a", "x"]
    assert [token_of(encoder, encoded, i) for i in range(4)] == [
        {"w:a": 1.0, "x": 2.0},
        {"x": -1.5},
        {"w:a": 1.0},
        {},
    ]
    later = encoder.extend_transform([[["z"], ["z"], ["y"]]])
    assert encoder.feature_names() == ["w:a", "x", "z"]
    assert later.indptr.tolist() == [0, 1, 2, 2]
    pruned = DictEncoder.from_arrays(*encoder.to_arrays(np.array([False, True, True])))
    assert pruned.feature_names() == ["x", "z"]
    assert token_of(pruned, pruned.transform(corpus), 0) == {"x": 2.0}
    with pytest.raises(SeqpaError, match="mask of 3 booleans"):
        encoder.to_arrays([True])


@pytest.mark.parametrize(
    ("token", "words"),
    [
        ({"a": math.nan}, "feature 'a' has the value nan"),
        ({"a": math.inf}, "has the value inf"),
        ({"a": 1e39}, "finite number"),
        ({"a": 10**400}, "finite number"),
        ({"a": None}, "feature 'a' cannot be None"),
        ({"a": {"b": math.nan}}, "feature 'a:b' has the value nan"),
        ({"a": ["b", 1.0]}, "has 1.0 in its list"),
        ({1: "b"}, "name is a string, not 1"),
        ({"a": {1: 2}}, "name is a string, not 1 in 'a'"),
        ([1], "a token has 1 in its list"),
        ("word", "a token cannot be 'word'"),
        (None, "a token cannot be None"),
    ],
)
def test_bad_tokens_are_errors_with_their_place_and_change_nothing(token, words: str) -> None:
    encoder = DictEncoder()
    encoder.fit_transform([[{"w": "a"}]])
    for call in (encoder.extend_transform, encoder.transform):
        with pytest.raises(SeqpaError) as caught:
            call([[{"w": "b"}], [{"w": "c"}, token]])
        assert str(caught.value).startswith("sentence 2, token 2: ")
        assert words in str(caught.value)
        assert encoder.feature_names() == ["w:a"]


def test_numpy_values_count_as_numbers() -> None:
    encoder = DictEncoder()
    token = {"a": np.float32(2), "b": np.int64(3), "c": np.bool_(True), "d": np.bool_(False)}
    assert token_of(encoder, encoder.fit_transform([[token]]), 0) == {"a": 2.0, "b": 3.0, "c": 1.0}


def test_a_damaged_dict_encoder_is_an_error() -> None:
    encoder = DictEncoder()
    encoder.fit_transform([[["a", "bé"]]])
    arrays, header = encoder.to_arrays()
    for name, value in [
        ("features.ends", np.array([1, 9])),
        ("features.ends", np.array([2, 1])),
        ("features.ends", np.array([-(2**63), 3])),
        ("features.text", np.array([97, 98, 255], np.uint8)),
        ("features.text", np.array([97, 98], np.uint8)),
    ]:
        with pytest.raises(SeqpaError, match="damaged model"):
            DictEncoder.from_arrays(arrays | {name: value}, header)
    with pytest.raises(SeqpaError, match="damaged model: a feature is there twice"):
        DictEncoder.from_arrays(
            {"features.text": np.array([97, 97], np.uint8), "features.ends": np.array([1, 2])},
            header,
        )
    with pytest.raises(SeqpaError, match="not 'dicts'"):
        DictEncoder.from_arrays(arrays, {"encoder": "templates"})


def test_a_token_may_be_any_mapping() -> None:
    tokens = {"w": "a", "x": 2.0}
    plain = DictEncoder().fit_transform([[tokens]])
    for other in (MappingProxyType(tokens), UserDict(tokens)):
        encoded = DictEncoder().fit_transform([[other]])
        assert encoded.features.tolist() == plain.features.tolist()
        assert encoded.values.tolist() == plain.values.tolist()


@given(
    st.lists(st.lists(st.sampled_from("abc"), min_size=1, max_size=4), max_size=8),
    st.lists(st.lists(st.sampled_from("abc"), max_size=7), max_size=4),
)
def test_lexicons_mark_the_longest_entry_from_the_left(entries, sentences) -> None:
    expected: list[int] = []
    for words in sentences:
        at = 0
        while at < len(words):
            fits = (len(e) for e in entries if words[at : at + len(e)] == e)
            length = max(fits, default=0)
            expected += [0, *[1] * (length - 1)] if length else [-1]
            at += length or 1
    starts = np.cumsum([0, *map(len, sentences)])
    marks = Lexicon(entries).mark([word for words in sentences for word in words], starts.tolist())
    assert marks.tolist() == expected


part_words = st.lists(st.lists(st.sampled_from(["a", "b", "ab", "Ba"]), max_size=4), max_size=12)


@pytest.mark.pure
@given(part_words, part_words, st.lists(st.integers(0, 12), min_size=1, max_size=7))
def test_parts_get_the_numbers_that_the_whole_gets(earlier, corpus, cuts):
    """However a corpus is cut for threads, and whatever is known before: the same features, by the
    same numbers, also within the tables."""
    templates = ["word[0]", "word[-1]|word[0]", "word[-1]|word[0]|suffix(1)[1]", "prefix(1)[0]"]

    def parts(starts, _):
        ends = sorted({0, *(cut for cut in cuts if cut < len(starts)), len(starts) - 1})
        return [starts[a : b + 1] for a, b in pairwise(ends)]

    found = []
    for n_jobs in (1, 2):
        encoder = FeatureEncoder([*templates, "pair:word[0]|word[1]"])
        encoder.fit_transform([list(chain.from_iterable(earlier))], map(len, earlier))
        with mock.patch("seqpa.sequence.encode._parts", parts):
            encoded = encoder.extend_transform(
                [list(chain.from_iterable(corpus))], map(len, corpus), n_jobs=n_jobs
            )
        arrays = encoded.indptr, encoded.features, encoded.pair_indptr, encoded.pair_features
        counts = [table.counts.tolist() for table in (encoder.features, encoder.pairs)]
        names = encoder.feature_names(), encoder.pair_feature_names()
        found.append(([array.tolist() for array in arrays], counts, names))
    assert found[0] == found[1]


@pytest.mark.parametrize("n_jobs", [2, 3, 8])
def test_a_model_has_the_same_bytes_for_any_number_of_threads(n_jobs, monkeypatch, tmp_path):
    draw = random.Random(7)
    X = [[f"w{draw.randint(0, 90)}" for _ in range(draw.randint(0, 9))] for _ in range(300)]
    y = [[draw.choice("NVA") for _ in words] for words in X]
    monkeypatch.setattr("seqpa.sequence.encode._FEWEST", 50)
    written = []
    for jobs in (1, n_jobs):
        tagger = SequenceTagger("pos", epochs=2, random_state=1, n_jobs=jobs).fit(X, y)
        tagger.set_params(n_jobs=1).save(tmp_path / str(jobs))
        written.append((tmp_path / str(jobs)).read_bytes())
    assert written[0] == written[1]
