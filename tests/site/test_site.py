"""Every page of the site, in Chromium, at the widths of a desk and of a phone. tools/tests/test-web makes the site."""

import os
import re
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from explorer.tests.conftest import chromium, media, window  # noqa: F401

SITE = Path(os.environ["SITE"])
PAGES = sorted(page.name for page in SITE.glob("*.html"))
WIDTHS = [1280, 390]
# What SITE_SCREENSHOTS=folder makes pictures of.
SHOWN = ["index", "tickets", "deduplication", "clients", "reference"]


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, format: str, *arguments: object) -> None:
        pass


@pytest.fixture(scope="session")
def address() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(SITE))) as server:
        thread = Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_address[1]}"
        server.shutdown()
        thread.join()


def test_there_is_a_page_for_each_of_the_documentation() -> None:
    docs = [page for page in Path("docs").rglob("*.md") if page.name != "README.md"]
    assert docs
    missing = {page.with_suffix(".html").name for page in docs} | {"index.html", "questions.html", "python.html"}
    assert missing - set(PAGES) == set()


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_whole(chromium: Chrome, address: str, page: str, width: int) -> None:  # noqa: F811
    window(chromium, width, 900)
    media(chromium, "light")
    chromium.get(f"{address}/{page}")
    assert chromium.find_element(By.TAG_NAME, "h1").text
    loaded = chromium.execute_script("return performance.getEntriesByType('resource').map(entry => entry.name)")
    assert [name for name in loaded if not name.startswith((address, "data:"))] == []
    # What does not fit scrolls or wraps where it is, and the page as a whole does not.
    assert chromium.execute_script("return document.documentElement.scrollWidth") <= width
    cut = chromium.execute_script(
        """return [...document.querySelectorAll('.highlight:not(.language-text) pre > code')]
               .filter(code => code.scrollWidth > code.clientWidth + 1).map(code => code.textContent.slice(0, 80))"""
    )
    assert cut == []
    if width == WIDTHS[0]:
        buttons = chromium.execute_script("return document.querySelectorAll('.highlight button').length")
        assert buttons >= chromium.execute_script("return document.querySelectorAll('.highlight pre').length")
    name = page.removesuffix(".html")
    if "SITE_SCREENSHOTS" in os.environ and name in SHOWN:
        chromium.save_screenshot(str(Path(os.environ["SITE_SCREENSHOTS"]) / f"{name}-{width}.png"))


def test_dark_mode_is_dark(chromium: Chrome, address: str) -> None:  # noqa: F811
    brightness = {}
    for scheme in ("light", "dark"):
        media(chromium, scheme)
        chromium.get(f"{address}/index.html")
        color = chromium.find_element(By.TAG_NAME, "body").value_of_css_property("background-color")
        brightness[scheme] = sum(map(int, re.findall(r"\d+", color)[:3]))
    assert brightness["dark"] < 200 < brightness["light"]


def test_search_finds_a_function(chromium: Chrome, address: str) -> None:  # noqa: F811
    window(chromium, WIDTHS[0], 900)
    chromium.get(f"{address}/index.html")
    chromium.find_element(By.CSS_SELECTOR, ".md-search__button, [data-md-component=search-query], .md-search label").click()
    field = WebDriverWait(chromium, 20).until(
        lambda browser: browser.execute_script(
            "const seek = root => [...root.querySelectorAll('*')].reduce((found, element) => found || (element.matches('input')"
            " && element.type !== 'checkbox' && element.type !== 'radio' ? element : element.shadowRoot && seek(element.shadowRoot)), null);"
            "return seek(document)"
        )
    )
    field.send_keys("near_cluster")
    WebDriverWait(chromium, 20).until(
        lambda browser: browser.execute_script(
            "const texts = root => [...root.querySelectorAll('*')].map(e => e.shadowRoot ? e.shadowRoot.textContent + texts(e.shadowRoot)"
            " : '').join(''); return (document.querySelector('.md-search')?.textContent ?? '') + texts(document)"
        ).count("near_cluster") > 1
    )
