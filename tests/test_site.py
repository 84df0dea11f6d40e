"""The site that `make docs` builds: nothing comes from elsewhere, links lead somewhere, and a real
browser shows it.

With Debian's `chromium` on the PATH and the packages of the extra `docs`.
"""

from __future__ import annotations

import functools
import html.parser
import http.server
import json
import re
import shutil
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from tests.runtime.native import ROOT

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocstrings", reason="needs the packages of the extra `docs`")
    folder = tmp_path_factory.mktemp("site")
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--quiet", "--strict", "-d", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    return folder


class _Page(html.parser.HTMLParser):
    """Where the links of a page lead, what it loads, and its anchors."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.anchors: set[str] = set()
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        given = {name: value or "" for name, value in attrs}
        self.anchors |= {given[name] for name in ("id", "name") if name in given}
        if tag == "a" and "href" in given:
            self.links.append(given["href"])
        if "src" in given:
            self.loads.append(given["src"])
        if tag == "link" and given.get("rel") != "canonical" and "href" in given:
            self.loads.append(given["href"])


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, _Page]:
    return {path: _Page(path) for path in site.rglob("*.html") if path.name != "404.html"}


def test_nothing_is_loaded_from_elsewhere(pages: dict[Path, _Page]) -> None:
    assert len(pages) > 30
    loads = [(path.name, one) for path, page in pages.items() for one in page.loads]
    assert loads and not [one for one in loads if re.match(r"(https?:)?//", one[1])]
    assert all((path.parent / unquote(urlsplit(one).path)).is_file()
               for path, page in pages.items() for one in page.loads)  # fmt: skip


def test_links_lead_somewhere(pages: dict[Path, _Page]) -> None:
    dead = []
    for path, page in pages.items():
        for link in page.links:
            to = urlsplit(link)
            if to.scheme or to.netloc:
                continue
            target = (path.parent / unquote(to.path)).resolve() if to.path else path
            target = target / "index.html" if target.is_dir() else target
            known = target in pages and unquote(to.fragment) in {*pages[target].anchors, ""}
            if not known and not (target.is_file() and target not in pages):
                dead.append(f"{path.name}: {link}")
    assert not dead


def test_the_reference_has_every_routine(pages: dict[Path, _Page]) -> None:
    from anymetal import linalg

    anchors = next(page.anchors for path, page in pages.items() if path.name == "reference.html")
    ends = {anchor.rpartition(".")[2] for anchor in anchors}
    routines = {name for name in vars(linalg) if callable(getattr(linalg, name))}
    assert len(routines) > 10 and routines <= ends
    assert {"metal_kernel", "metal_library", "install", "MetalCompileError"} <= ends


# The browser runs this, beside the site: it has pages in a frame, and writes down what it finds.
_PROBE = """<!doctype html><body><script>
const wait = (t) => new Promise((done) => setTimeout(done, t));
async function until(question) {
  for (let i = 0; i < 100; ++i) { if (question()) return true; await wait(100); }
  return false;
}
async function framed(page, width) {
  const frame = document.createElement("iframe");
  frame.style = `width:${width}px;height:800px;border:0`;
  frame.src = page;
  document.body.append(frame);
  await new Promise((done) => { frame.onload = done; });
  await wait(300);
  return frame;
}
async function look() {
  const found = {};
  for (const page of PAGES) {
    const frame = await framed(page, 360), inside = frame.contentDocument;
    found[page] = {
      width: inside.documentElement.scrollWidth,
      broken: [...inside.images].filter((i) => !(i.complete && i.naturalWidth)).map((i) => i.src),
      images: inside.images.length,
      blocks: inside.querySelectorAll("div.highlight pre > code").length,
      buttons: inside.querySelectorAll(".md-clipboard, .md-code__button[data-md-type=copy]").length,
    };
    frame.remove();
  }
  const frame = await framed("index.html", 1200), inside = frame.contentDocument;
  const copy = inside.querySelector(".md-clipboard, .md-code__button[data-md-type=copy]");
  copy.click();
  found.copied = await until(() => /Copied/.test(inside.querySelector(".md-dialog").textContent));
  const query = inside.querySelector(".md-search__input");
  query.focus();
  query.value = "threadgroup_barrier";
  query.dispatchEvent(new KeyboardEvent("keyup", {bubbles: true}));
  query.dispatchEvent(new InputEvent("input", {bubbles: true}));
  await until(() => inside.querySelector(".md-search-result__link"));
  found.hits = [...inside.querySelectorAll(".md-search-result__link")].map((a) => a.href);
  await fetch("/result", {method: "POST", body: JSON.stringify(found)});
}
const tell = (error) => fetch("/result", {method: "POST", body: `{"error": "${error}"}`});
look().catch(tell);
</script>"""


class _Handler(http.server.SimpleHTTPRequestHandler):
    """Serves the site, and takes what the browser has found."""

    result: dict[str, Any]
    ended: threading.Event

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        type(self).result = json.loads(body)
        self.send_response(204)
        self.end_headers()
        type(self).ended.set()

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture(scope="module")
def seen(site: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Any]]:
    """What a browser has found."""
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if chromium is None:
        pytest.skip("needs a browser: apt-get install chromium")
    names = sorted(path.name for path in site.glob("*.html") if path.name != "404.html")
    (site / "probe.html").write_text(_PROBE.replace("PAGES", json.dumps(names)))
    _Handler.ended = threading.Event()
    handler = functools.partial(_Handler, directory=str(site))
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser = subprocess.Popen(
        [chromium, "--headless", "--no-sandbox", "--disable-gpu", "--no-first-run",
         f"--user-data-dir={tmp_path_factory.mktemp('profile')}", "--window-size=1300,900",
         "--remote-debugging-port=0", f"http://127.0.0.1:{server.server_port}/probe.html"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )  # fmt: skip
    try:
        assert _Handler.ended.wait(240), "the browser found nothing in 4 minutes"
        assert "error" not in _Handler.result, _Handler.result
        yield _Handler.result
    finally:
        browser.kill()
        browser.wait()
        server.shutdown()
        (site / "probe.html").unlink()


def _of_pages(seen: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {name: found for name, found in seen.items() if name.endswith(".html")}


def test_pictures_load(seen: dict[str, Any]) -> None:
    of_pages = _of_pages(seen)
    assert sum(found["images"] for found in of_pages.values()) > 10
    assert not {name: found["broken"] for name, found in of_pages.items() if found["broken"]}


def test_narrow_screens_fit(seen: dict[str, Any]) -> None:
    """At 360 pixels no page is wider than the screen."""
    widths = {name: found["width"] for name, found in _of_pages(seen).items()}
    assert not {name: width for name, width in widths.items() if width > 360}


def test_code_can_be_copied(seen: dict[str, Any]) -> None:
    of_pages = _of_pages(seen)
    assert of_pages["index.html"]["blocks"] >= 2
    assert all(found["buttons"] == found["blocks"] for found in of_pages.values())
    assert seen["copied"]


def test_search_finds_pages(seen: dict[str, Any]) -> None:
    assert any("port-cuda.html" in hit for hit in seen["hits"])
