"""The model that MLflow serves: raw text in, a label and each class's probability out.

MLflow runs this file when it loads the model ("models from code"); nothing is pickled.
"""

from collections.abc import Mapping
from typing import Any

import mlflow
import numpy as np
import pandas as pd
from mlflow.exceptions import MlflowException
from mlflow.pyfunc.model import PythonModel

from textbaselines.core.errors import UserError
from textbaselines.export.portable import PortableModel, load

TEXT = "text"
"""The column, or key of a JSON record, that holds the text."""


class ServedModel(PythonModel):
    """A portable model behind MLflow's interface."""

    model: PortableModel

    def load_context(self, context: Any) -> None:
        """Load the folder that was logged as the artifact ``model``."""
        self.model = load(context.artifacts["model"])

    # The hint says less than is taken: it is one that MLflow neither enforces nor warns about.
    def predict(
        self, context: Any, model_input: pd.DataFrame, params: dict[str, Any] | None = None
    ) -> pd.DataFrame:
        """Classify texts.

        Parameters
        ----------
        model_input : list, Series, data frame, list of records, or mapping
            n texts; a frame, record or mapping has them under ``text``, a frame of one column
            without a name too.

        Returns
        -------
        data frame of n rows
            As :func:`prediction_table`.

        Raises
        ------
        MlflowException
            For anything else; the server answers 400 with the message.
        """
        try:
            return prediction_table(self.model, texts_of(model_input))
        except UserError as error:
            raise MlflowException.invalid_parameter_value(str(error)) from error


def prediction_table(model: PortableModel, texts: list[Any]) -> pd.DataFrame:
    """Return a row for each text.

    Columns: ``label``, and ``probability_<class>`` for each class; where the method has no
    probabilities ``score`` (the positive class is predicted above 0), for more than two classes
    ``score_<class>``.
    """
    scores = model.scores(texts)
    table = {"label": np.array(model.labels(scores), dtype=object)}
    if model.has_probabilities:
        columns = model.probabilities(scores).T
        table |= {
            f"probability_{name}": column
            for name, column in zip(model.classes, columns, strict=True)
        }
    elif scores.ndim == 1:
        table["score"] = scores
    else:
        table |= {
            f"score_{name}": column for name, column in zip(model.classes, scores.T, strict=True)
        }
    return pd.DataFrame(table)


def texts_of(model_input: Any) -> list[Any]:
    """Return the texts of any input that MLflow hands on.

    Raises :class:`UserError` when it cannot be told where the texts are.
    """
    if isinstance(model_input, pd.DataFrame):
        columns: list[Any] = list(model_input.columns)
        if TEXT in columns:
            return model_input[TEXT].tolist()
        if len(columns) == 1 and not isinstance(columns[0], str):
            return model_input.iloc[:, 0].tolist()
        raise _no_text(f"columns {', '.join(map(repr, columns)) or 'none'}")
    if isinstance(model_input, Mapping):
        if TEXT not in model_input:
            raise _no_text(f"keys {', '.join(map(repr, model_input)) or 'none'}")
        return texts_of(model_input[TEXT])
    if isinstance(model_input, str):
        return [model_input]
    if isinstance(model_input, np.ndarray):
        if model_input.ndim == 2 and model_input.shape[1] == 1:
            model_input = model_input[:, 0]
        if model_input.ndim > 1:
            raise _no_text(f"an array of shape {model_input.shape}")
        return list(np.atleast_1d(model_input).tolist())
    if not isinstance(model_input, list | tuple | pd.Series):
        raise _no_text(type(model_input).__name__)
    return [_text_of_record(one) if isinstance(one, Mapping) else one for one in model_input]


def _text_of_record(record: Mapping[str, Any]) -> Any:
    if TEXT not in record:
        raise _no_text(f"a record with keys {', '.join(map(repr, record)) or 'none'}")
    return record[TEXT]


def _no_text(found: str) -> UserError:
    return UserError(
        "no texts in the input",
        found=found,
        expected=f"a list of texts, or a column or key named {TEXT!r}",
    )


mlflow.models.set_model(ServedModel())
