"""Classifiers with scikit-learn's interface, one module per family."""

from textbaselines.models.complement_nb import ComplementNB
from textbaselines.models.gaussian import GaussianDiscriminantAnalysis, GaussianNB
from textbaselines.models.language_model import ClassLanguageModel
from textbaselines.models.naive_bayes import BernoulliNB, MultinomialNB
from textbaselines.models.nbsvm import NBSVM
from textbaselines.models.svm import LinearSVM

__all__ = [
    "NBSVM",
    "BernoulliNB",
    "ClassLanguageModel",
    "ComplementNB",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "LinearSVM",
    "MultinomialNB",
]
