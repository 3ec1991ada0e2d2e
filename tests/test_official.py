"""Downloads against servers that behave in every way a server does."""

import gzip
import hashlib
import struct
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from unbraid import official
from unbraid.errors import Notice, UserError
from unbraid.idx import read_idx
from unbraid.official import Official, fetch

CONTENT = np.random.default_rng(0).bytes(300_000)
SHA = f"sha256:{hashlib.sha256(CONTENT).hexdigest()}"


class Server(BaseHTTPRequestHandler):
    """/plain knows no ranges, /range does, /cut breaks off, /wrong sends something else."""

    def do_GET(self):
        asked = self.headers.get("Range")
        self.server.asked.append((self.path, asked))
        start = int(asked.removeprefix("bytes=").removesuffix("-")) if asked else 0
        if self.path == "/missing":
            self.send_error(404)
            return
        if self.path in ("/plain", "/wrong"):
            start = 0
        body = (b"?" * len(CONTENT) if self.path == "/wrong" else CONTENT)[start:]
        if not body:
            self.send_error(416)
            return
        self.send_response(206 if start else 200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body[:120_000] if self.path in ("/cut", "/dead") else body)

    def log_message(self, *words):
        pass


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    monkeypatch.delenv("UNBRAID_DATA", raising=False)
    http = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    http.asked = []
    http.address = f"http://127.0.0.1:{http.server_port}"
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield http
    http.shutdown()
    thread.join()
    http.server_close()


def file_at(server, *paths, checksum=SHA):
    return Official("thing.bin", checksum, tuple(f"{server.address}{path}" for path in paths))


def test_downloads_once(server, tmp_path):
    for _ in range(2):
        path = fetch("toy", file_at(server, "/plain"))
        assert path.read_bytes() == CONTENT
    assert path.parent == tmp_path / "cache" / "toy"
    assert server.asked == [("/plain", None)]
    assert not list(path.parent.glob("*.part"))


def test_md5_will_do(server):
    md5 = f"md5:{hashlib.md5(CONTENT).hexdigest()}"
    assert fetch("toy", file_at(server, "/plain", checksum=md5)).read_bytes() == CONTENT


def test_goes_on_where_the_connection_broke(server):
    assert fetch("toy", file_at(server, "/cut")).read_bytes() == CONTENT
    assert [asked for _, asked in server.asked] == [None, "bytes=120000-", "bytes=240000-"]


@pytest.mark.parametrize("path", ["/range", "/plain"])
@pytest.mark.parametrize("held", [CONTENT[:1000], CONTENT, b"rubbish"])
def test_goes_on_from_an_earlier_attempt(server, tmp_path, path, held):
    part = tmp_path / "cache" / "toy" / "thing.bin.part"
    part.parent.mkdir(parents=True)
    part.write_bytes(held)
    assert fetch("toy", file_at(server, path)).read_bytes() == CONTENT


def test_tries_the_next_address(server):
    assert fetch("toy", file_at(server, "/missing", "/wrong", "/plain")).read_bytes() == CONTENT


def test_says_what_to_do_when_all_fail(server, tmp_path):
    closed = "http://127.0.0.1:9/thing.bin"
    file = Official("thing.bin", SHA, (f"{server.address}/missing", f"{server.address}/wrong", closed))
    with pytest.raises(UserError, match=r"HTTP 404.*another file.*refused.*put the file into") as caught:
        fetch("toy", file)
    assert "\n" not in str(caught.value) and "UNBRAID_DATA" in str(caught.value)
    assert not (tmp_path / "cache" / "toy" / "thing.bin").exists()


def test_a_damaged_file_is_named_and_not_used(server, tmp_path):
    path = fetch("toy", file_at(server, "/plain"))
    path.write_bytes(CONTENT[:-1] + b"!")
    with pytest.raises(UserError, match=f"{path.name}.*damaged"):
        fetch("toy", file_at(server, "/plain"))


@pytest.mark.parametrize("folder", ["", "my_toy", "my-toy", "my-toy-again", "anything"])
def test_finds_the_users_own_copy(server, tmp_path, monkeypatch, folder):
    own = tmp_path / "own" / folder
    own.mkdir(parents=True)
    (own / "thing.bin").write_bytes(CONTENT)
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "own"))
    assert fetch("my_toy", file_at(server, "/plain")) == own / "thing.bin"
    assert server.asked == []


def test_a_namesake_of_another_data_set_does_not_disturb(server, tmp_path, monkeypatch):
    other = tmp_path / "own" / "other"
    other.mkdir(parents=True)
    (other / "thing.bin").write_bytes(b"other")
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "own"))
    assert fetch("toy", file_at(server, "/plain")).read_bytes() == CONTENT
    other.rename(tmp_path / "own" / "toy")
    with pytest.raises(official.OtherFile, match="5 bytes"):
        fetch("toy", file_at(server, "/plain"))
    monkeypatch.setenv("UNBRAID_DATA", str(tmp_path / "nowhere"))
    with pytest.raises(UserError, match="no such folder"):
        fetch("toy", file_at(server, "/plain"))


def test_many_at_once_download_once(server):
    found = []
    file = file_at(server, "/plain")
    threads = [threading.Thread(target=lambda: found.append(fetch("toy", file))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(found) == 4 and len(server.asked) == 1


def idx(shape, values, kind=8):
    return gzip.compress(bytes([0, 0, kind, len(shape)]) + struct.pack(f">{len(shape)}I", *shape) + values)


def test_idx_files(tmp_path):
    path = tmp_path / "a.gz"
    path.write_bytes(idx((2, 3), bytes(range(6))))
    assert read_idx(path).tolist() == [[0, 1, 2], [3, 4, 5]]
    for content, message in [
        (idx((2, 3), bytes(5)), "should hold"),
        (idx((2, 3), bytes(6), kind=9), "not an idx file"),
        (idx((2, 3), bytes(6))[:-9], "damaged"),
        (b"no", "damaged"),
        (gzip.compress(b"\x00\x00\x08\x05"), "not an idx file"),
    ]:
        path.write_bytes(content)
        with pytest.raises(UserError, match=message):
            read_idx(path)


def test_a_file_without_a_published_checksum_is_taken_and_said_to_be_unverified(server):
    file = file_at(server, "/missing", "/plain", checksum=None)
    with pytest.warns(Notice, match=r"toy: thing.bin is unverified"):
        path = fetch("toy", file)
    assert path.read_bytes() == CONTENT
    (note,) = file.notes(path)
    assert "unverified" in note and SHA in note
    assert file_at(server, "/plain").notes(path) == ()


def test_checksums_of_large_files_are_remembered_until_they_change(tmp_path, monkeypatch):
    monkeypatch.setenv("UNBRAID_CACHE", str(tmp_path / "cache"))
    monkeypatch.setattr(official, "LARGE", len(CONTENT))
    path = tmp_path / "large.bin"
    path.write_bytes(CONTENT)
    assert official.checksum(path) == SHA
    with monkeypatch.context() as blind:
        blind.setattr(hashlib, "file_digest", lambda *args: pytest.fail("read again"))
        assert official.checksum(path) == SHA
    assert official.checksum(path, "md5") == f"md5:{hashlib.md5(CONTENT).hexdigest()}"
    path.write_bytes(CONTENT + b"!")
    assert official.checksum(path) == f"sha256:{hashlib.sha256(CONTENT + b'!').hexdigest()}"
