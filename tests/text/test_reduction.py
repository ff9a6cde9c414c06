"""The truncated SVD: scikit-learn's to the bit, and the same whenever it is asked."""

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.decomposition import TruncatedSVD

from textbaselines.text.reduction import SVD


@pytest.mark.parametrize("shape", [(60, 200), (200, 60), (40, 40), (9, 300)])
@pytest.mark.parametrize("rank", [1, 8])
def test_bit_for_bit_that_of_scikit_learn(shape, rank) -> None:
    X = sp.random_array(shape, density=0.1, rng=np.random.default_rng(0), format="csr")
    ours = SVD(rank, 7).fit(X)
    theirs = TruncatedSVD(rank, algorithm="arpack", random_state=7).fit(X)
    np.testing.assert_array_equal(ours.directions, theirs.components_)
    np.testing.assert_array_equal(ours.transform(X), theirs.transform(X))


def test_few_different_documents_give_the_same_bits_every_time() -> None:
    # Six documents, five times each: ARPACK runs out of directions and draws new ones.
    X = sp.csr_array(np.vstack([np.eye(6)] * 5))
    found = {SVD(5, 1).fit(X).directions.tobytes() for _ in range(6)}
    assert len(found) == 1
    directions = np.frombuffer(found.pop()).reshape(5, 6)
    np.testing.assert_allclose(directions @ directions.T, np.eye(5), atol=1e-12)


@pytest.mark.parametrize("shape", [(1, 5), (5, 1)])
def test_too_little_to_reduce(shape) -> None:
    with pytest.raises(ValueError, match="two documents and two features at least"):
        SVD(3, 0).fit(sp.csr_array(np.ones(shape)))
