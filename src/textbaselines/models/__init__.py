"""Text classifiers and regressors with scikit-learn's interface, one module per family."""

from textbaselines.models.complement_nb import ComplementNB
from textbaselines.models.extreme_learning import ExtremeLearningMachine
from textbaselines.models.gaussian import GaussianDiscriminantAnalysis, GaussianNB
from textbaselines.models.gaussian_process import (
    GaussianProcessClassifier,
    GaussianProcessRegressor,
)
from textbaselines.models.kernel_svm import KernelSVM
from textbaselines.models.language_model import ClassLanguageModel
from textbaselines.models.logistic_regression import LogisticRegression
from textbaselines.models.naive_bayes import BernoulliNB, MultinomialNB
from textbaselines.models.nbsvm import NBSVM
from textbaselines.models.ridge import LinearRegression, RidgeClassifier
from textbaselines.models.semi_supervised_nb import SemiSupervisedNB
from textbaselines.models.svm import LinearSVM
from textbaselines.models.translation_model import TranslationLanguageModel

__all__ = [
    "NBSVM",
    "BernoulliNB",
    "ClassLanguageModel",
    "ComplementNB",
    "ExtremeLearningMachine",
    "GaussianDiscriminantAnalysis",
    "GaussianNB",
    "GaussianProcessClassifier",
    "GaussianProcessRegressor",
    "KernelSVM",
    "LinearRegression",
    "LinearSVM",
    "LogisticRegression",
    "MultinomialNB",
    "RidgeClassifier",
    "SemiSupervisedNB",
    "TranslationLanguageModel",
]
