"""Words, known and new."""

import numpy as np
import pandas as pd
import pytest

from definetti.emissions import Words
from definetti.emissions.symbols import MATERIALS, Lexicon, made_of, shape

# fmt: off
TEXT = ["The", "cat", "saw", "the", "dog", "and", "the", "dog", "saw", "Rome", ",", "running",
        "and", "walking", "to", "12", "UN", "men", "."]
# fmt: on
STATES = np.array([0, 1, 2, 0, 1, 0, 0, 1, 2, 1, 3, 2, 0, 2, 0, 0, 1, 1, 3])


def fitted(emission, words=TEXT, states=STATES, n_states=5, judged=None):
    table, codes = emission.encode(words, None, "observations")
    if judged is not None:
        table, judged = emission.encode(judged, table, "new_observations")
    statistics = emission.statistics(table, codes, np.asarray(states), n_states)
    return emission.log_likelihood(table, statistics, codes if judged is None else judged)


def naive(word, state, prior, weight, words=TEXT, states=STATES):
    """The probability of a word in a state, straight from the definition."""
    pairs = list(zip(words, states, strict=True))

    def distinct(of):
        return {w for w, i in pairs if i == state and of(w)}

    kinds = {
        m: len({shape(w) for w in distinct(lambda w, m=m: made_of(w) == m)}) for m in MATERIALS
    }
    kind = (kinds[made_of(word)] + prior) / (sum(kinds.values()) + prior * len(MATERIALS))

    number = len(distinct(lambda w: shape(w) == shape(word)))
    total = len(distinct(lambda w: True))
    shapes_here = len({shape(w) for w in distinct(lambda w: True)})
    shapes_known = len({shape(w) for w in words if made_of(w) == made_of(word)})
    rest = (weight + shapes_here) * kind / max(shapes_known, 1)
    q = (max(number - 1, 0) + rest) / (total + weight)

    count = sum(w == word and i == state for w, i in pairs)
    here = sum(i == state for _, i in pairs)
    words_known = len({w for w in words if shape(w) == shape(word)})
    rest = (weight + total) * q / max(words_known, 1)
    return (max(count - 1, 0) + rest) / (here + weight)


@pytest.mark.parametrize(("prior", "weight"), [(0.5, 1.0), (0.1, 3.0), (2, 0.5)])
def test_formula(prior, weight):
    judged = [*TEXT, "jumping", "Paris", "7", "…", "xylophones"]
    found = np.exp(fitted(Words(prior, weight), judged=judged))
    for row, word in enumerate(judged):
        for state in range(5):
            assert found[row, state] == pytest.approx(naive(word, state, prior, weight)), word


def test_known_words_make_a_law():
    distinct = list(dict.fromkeys(TEXT))
    found = np.exp(fitted(Words(), judged=distinct)).sum(axis=0)
    # Materials that no word has keep the part that the prior gives them, and no more.
    assert (found <= 1 + 1e-12).all()
    assert found[:4].min() > 0.8


def test_a_new_word_goes_by_its_shape():
    words = ["walking", "runs", "singing", "cats", "jumping", "dogs"] * 3
    found = fitted(Words(), words, [0, 1] * 9, 2, judged=["dancing", "hats"])
    assert found[0, 0] > found[0, 1] + 1
    assert found[1, 1] > found[1, 0] + 1


def test_a_word_met_once_tells_no_more_than_its_shape():
    """Else a candidate, which puts the new word into its own state, would speak for itself."""
    words = ["walking", "runs", "singing", "cats", "jumping", "dogs"]
    found = fitted(Words(), [*words, "dancing"], [0, 1, 0, 1, 0, 1, 1], 2, judged=["dancing"])
    assert found[0, 0] > found[0, 1]


def test_missing_words():
    found = fitted(Words(), ["a", None, float("nan"), "b"], [0, 0, 1, 1], 2)
    assert found[1:3].tolist() == [[0, 0], [0, 0]]
    assert (found[[0, 3]] < 0).all()


def test_a_state_without_words_is_neutral():
    found = np.exp(fitted(Words(), ["aaa", "bbb", "ccc"], [0, 0, 1], 3))
    np.testing.assert_allclose(found[:, 2], found[0, 2])


def test_the_lexicon_grows():
    one, first = Lexicon().encoded(TEXT[:9], "observations")
    two, second = one.encoded(pd.Series(TEXT[9:]), "observations")
    whole, codes = Lexicon().encoded(TEXT, "observations")
    assert two.labels == whole.labels
    assert [*first, *second] == codes.tolist()
    np.testing.assert_array_equal(two.shape_of, whole.shape_of)
    np.testing.assert_array_equal(two.material_of, whole.material_of)
    assert [two.shapes.labels[k] for k in two.shape_of] == [shape(w) for w in two.labels]
    assert one.encoded(["cat"], "observations")[0] is one
    assert len(one) == len(set(TEXT[:9]))


def test_decoding():
    emission = Words()
    table, codes = emission.encode(["a", None, "b"], None, "observations")
    assert emission.decode(table, codes[None]).tolist() == [["a", None, "b"]]


@pytest.mark.parametrize("word", ["", "a", "é", "½", "—", "B-52", "İ"])
def test_odd_words(word):
    assert np.isfinite(fitted(Words(), [word, "cat"], [0, 1], 2)).all()


def test_bad_input():
    with pytest.raises(TypeError, match=r"observations\[1\] is 5, which is not a word"):
        Words().encode(["a", 5], None, "observations")
    with pytest.raises(ValueError, match="weight must be above 0"):
        Words(weight=0)
