"""Classes of small histories, listed by looking through all sequences."""

from collections import Counter, defaultdict
from itertools import pairwise, product

import numpy as np

from definetti.check.sample import Draws, read_sample
from definetti.memory import Observation, Order


def signature(segments):
    """What the likelihood depends on, for each segment by itself; of segments of pairs."""
    return tuple(
        (
            pairs[0][0],
            tuple(sorted(Counter(pairwise(x for x, _ in pairs)).items())),
            tuple(sorted(Counter(pairs).items(), key=repr)),
        )
        for pairs in segments
    )


def columns_signature(segments):
    """First states, transitions at each distance from the end, and all pairs together."""
    steps = Counter(
        (len(pairs) - k, a[0], b[0])
        for pairs in segments
        for k, (a, b) in enumerate(pairwise(pairs))
    )
    every = Counter(pair for pairs in segments for pair in pairs)
    first = tuple(pairs[0][0] for pairs in segments)
    return first, tuple(sorted(steps.items())), tuple(sorted(every.items(), key=repr))


def cut(pairs, lengths):
    ends = np.cumsum(lengths)
    return [tuple(pairs[e - n : e]) for e, n in zip(ends, lengths, strict=True)]


def all_classes(states, symbols, lengths, name=signature, tokens=None):
    """List all sequences of pairs, class by class; a token stands for its pair if there are any."""
    classes = defaultdict(list)
    for pairs in product(product(states, symbols), repeat=sum(lengths)):
        segments = cut(pairs, lengths)
        key = name(segments if tokens is None else [tokens(one) for one in segments])
        classes[key].append(pairs)
    return list(classes.values())


def members_of(pairs, lengths, name=signature, tokens=None):
    """List the class of one sequence."""
    states = sorted({x for x, _ in pairs})
    symbols = sorted({y for _, y in pairs}, key=repr)
    own = name([*map(tokens or tuple, cut(pairs, lengths))])
    return [
        other
        for other in product(product(states, symbols), repeat=len(pairs))
        if name([*map(tokens or tuple, cut(other, lengths))]) == own
    ]


def as_sample(pairs, lengths=None, memory=1):
    states, observations = [x for x, _ in pairs], [y for _, y in pairs]
    plain = all(y is None for y in observations)
    return read_sample(None if plain else observations, states, lengths, memory)


def as_draws(sample, pairs, members, memory=1, lengths=None):
    """Write members of the class of a sample as draws."""
    edge = {ends: k for k, ends in enumerate(zip(sample.sources, sample.targets, strict=True))}
    row = {tuple(row): k for k, row in enumerate(sample.rows.tolist())}
    symbols = [*dict.fromkeys(y for _, y in pairs)]  # in the order of their codes
    tokens, edges, times = [], [], []
    for member in members:
        other = as_sample(member, lengths, memory)
        # The codes of labels go by what is met first, which is another in another member.
        path = []
        for token in other.tokens:
            coded = other.rows[token].tolist()
            states = len(coded) if isinstance(sample.memory, Order) else 1
            own = [
                sample.labels.index(other.labels[code]) if k < states and code >= 0 else code
                for k, code in enumerate(coded)
            ]
            if isinstance(sample.memory, Observation):
                own[1] = symbols.index([*dict.fromkeys(y for _, y in member)][own[1]])
            path.append(row[tuple(own)])
        shelves = defaultdict(list)
        for time, (token, (_, y)) in enumerate(zip(sample.tokens, pairs, strict=True)):
            shelves[token, y].append(time)
        tokens.append(path)
        ends = set((sample.begins[1:] - 1).tolist())
        edges.append([-1 if t in ends else edge[path[t], path[t + 1]] for t in range(len(path))])
        times.append([shelves[v, y].pop() for v, (_, y) in zip(path, member, strict=True)])
    return Draws(*(np.array(one, dtype=np.int64) for one in (tokens, edges, times)))
