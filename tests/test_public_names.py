"""What the package shows to someone who explores it."""

import importlib
import pkgutil
import subprocess
import sys
from types import ModuleType

import pytest

import textbaselines


def test_the_package_lists_what_it_has_before_it_is_imported() -> None:
    code = "import textbaselines; print(*dir(textbaselines)); textbaselines.models.NBSVM"
    shown = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    ).stdout.split()
    assert [name for name in shown if not name.startswith("_")] == [
        "PortableModel",
        "load",
        "models",
    ]
    assert "__version__" in shown


def test_every_listed_name_is_there() -> None:
    for name in textbaselines.__all__:
        assert getattr(textbaselines, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'nope'"):
        _ = textbaselines.nope


@pytest.mark.parametrize(
    "package",
    ["textbaselines"]
    + [
        f"textbaselines.{one.name}"
        for one in pkgutil.iter_modules(textbaselines.__path__)
        if one.ispkg
    ],
)
def test_no_package_leaks_what_it_imports(package: str) -> None:
    module = importlib.import_module(package)
    public = {name: value for name, value in vars(module).items() if not name.startswith("_")}
    declared = set(getattr(module, "__all__", ()))
    assert declared <= set(dir(module))
    for name in set(public) - declared:
        value = public[name]
        assert isinstance(value, ModuleType), name
        assert value.__name__ == f"{package}.{name}"
