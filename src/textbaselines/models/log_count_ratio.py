"""The log-count ratio r, the weights of naive Bayes and the features of NBSVM."""

import numpy as np
from numpy.typing import NDArray

from textbaselines.models.matrices import Matrix, class_sums


def log_feature_probabilities(
    feature_count: NDArray[np.float64], alpha: float
) -> NDArray[np.float64]:
    """Return log P(feature | class) of smoothed class counts, 0 outside the training vocabulary.

    The training vocabulary is the features whose total count is above zero; the sums of

        log P(f | c) = log(alpha + count(c, f)) - log(sum over f' of (alpha + count(c, f')))

    run over it alone, so exp of a row's entries there sums to one.

    Parameters
    ----------
    feature_count : array of shape (classes, features)
        The sum of each class's training rows.
    alpha : float
        What is added to every count of the training vocabulary.

    Raises
    ------
    ValueError
        When ``alpha`` is 0 and a class never has a feature that another has: log 0.
    """
    seen = feature_count.sum(axis=0) > 0
    if seen.all():
        return logs_of_known(feature_count, alpha, np.arange(len(seen)))
    columns = np.flatnonzero(seen)
    result = np.zeros_like(feature_count)
    result[:, columns] = logs_of_known(feature_count[:, columns], alpha, columns)
    return result


def logs_of_known(
    known: NDArray[np.float64], alpha: float, columns: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Return :func:`log_feature_probabilities` of the training vocabulary alone.

    Parameters
    ----------
    known : array of shape (classes, known features)
        Their counts.
    columns : array of shape (known features,)
        What an error calls them.
    """
    counts = known + alpha
    if counts.min(initial=np.inf) <= 0:
        class_index, feature = np.argwhere(counts <= 0)[0]
        raise ValueError(
            f"alpha = {alpha:g} leaves {np.count_nonzero(counts <= 0)} probabilities of zero "
            f"(first: class {class_index}, column {columns[feature]}), whose "
            "logarithm is infinite: use an alpha above 0"
        )
    totals = counts.sum(axis=1, keepdims=True)
    if counts.size:
        np.log(counts, out=counts)
        counts -= np.log(totals)
    return counts


def log_count_ratio(
    X: Matrix, y_positive_mask: NDArray[np.bool_], alpha: float = 1.0
) -> NDArray[np.float64]:
    """Return r = log(p / sum p) - log(q / sum q), shape (features,), after Wang & Manning (2012).

    p is alpha plus the sum of the positive rows, q alpha plus that of the others, both over the
    features that some row has (section 2.1; the vector they write log((p/|p|)/(q/|q|))); r is 0
    for the other features.

    Parameters
    ----------
    X : array or CSR matrix of shape (documents, features)
        Non-negative counts; the paper's are 0/1.
    y_positive_mask : boolean array of shape (documents,)
        Which rows are positive.

    Raises
    ------
    ValueError
        When ``alpha`` is 0 and some ratio would be infinite.
    """
    mask = np.asarray(y_positive_mask, dtype=bool)
    return ratio_of_sums(class_sums(X, mask.astype(np.intp), 2), alpha)


def ratio_of_sums(sums: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return the log-count ratio of ready sums: row 0 of the negatives, row 1 of the positives."""
    logs = log_feature_probabilities(sums, alpha)
    return np.asarray(logs[1] - logs[0])
