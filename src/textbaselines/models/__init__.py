"""Classifiers with scikit-learn's interface, one module per family."""

from textbaselines.models.naive_bayes import BernoulliNB, MultinomialNB
from textbaselines.models.nbsvm import NBSVM
from textbaselines.models.svm import LinearSVM

__all__ = ["NBSVM", "BernoulliNB", "LinearSVM", "MultinomialNB"]
