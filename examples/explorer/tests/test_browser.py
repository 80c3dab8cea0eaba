"""What a visitor sees and does, in Chromium."""

from __future__ import annotations

import base64
import os
from pathlib import Path
from urllib.parse import quote

import psycopg
import pytest
from selenium.webdriver import Chrome
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.remote.webelement import WebElement
from selenium.webdriver.support.ui import WebDriverWait

from .conftest import media, window
from .corpus import HOSTILE, REPORTS

REPORT = REPORTS["Ferry terminal closed"]
# The key of the second version of the first report, and of the first hostile document.
VERSION = 2
ATTACK = 17
PAGES = [
    "/", "/compare", "/compare?a=1&b=2", "/compare?a=1&b=2&show=differences", "/clusters?radius=10",
    "/cluster?radius=10&keeper=1", "/distances", "/document?key=1", f"/document?key={ATTACK + 2}", "/document?key=0",
]


def one(browser: Chrome, selector: str) -> WebElement:
    return browser.find_element(By.CSS_SELECTOR, selector)


def texts(browser: Chrome, selector: str) -> list[str]:
    return [element.text for element in browser.find_elements(By.CSS_SELECTOR, selector)]


def content(browser: Chrome, selector: str) -> str:
    return str(one(browser, selector).get_property("textContent"))


def text_field(browser: Chrome) -> str:
    return str(one(browser, "#text").get_property("value"))


def press(browser: Chrome, element: WebElement, keys: str | None = None) -> None:
    """Clicks, or types a last key, and waits for the page that follows."""
    browser.execute_script("window.old = true")
    element.send_keys(keys) if keys else element.click()
    WebDriverWait(browser, 60).until(
        lambda page: page.execute_script("return !window.old && document.readyState == 'complete'")
    )


def paste(browser: Chrome, site: str, text: str, radius: int = 10) -> None:
    """Fills in the search as a user would, but for typing: Chromium's driver cannot type all characters."""
    browser.get(site)
    browser.execute_script("arguments[0].value = arguments[1]", one(browser, "#text"), text)
    one(browser, "[name=radius]").clear()
    one(browser, "[name=radius]").send_keys(str(radius))
    press(browser, one(browser, "button.main"))


def test_search_finds_versions_by_the_index(site: str, browser: Chrome) -> None:
    browser.get(site)
    one(browser, "#text").send_keys(REPORT)
    one(browser, "[name=plan]").click()
    press(browser, one(browser, "button.main"))
    assert "Ferry terminal closed (Harbour Post)" == texts(browser, ".results h3")[0]
    assert texts(browser, ".distance b")[0] == "0"
    near = browser.find_elements(By.CSS_SELECTOR, ".results .near")
    assert len(near) == 4 and texts(browser, "main p[role=status]")[0].startswith("4 within 12 of 64 bits")
    assert "Index Scan using document_si_idx" in one(browser, "details").text
    assert "Execution Time" in one(browser, "details").text
    assert one(browser, ".results").location["y"] < one(browser, "details").location["y"]
    assert text_field(browser) == REPORT


def test_codes_are_searched_and_compared(codes_site: str, browser: Chrome) -> None:
    paste(browser, codes_site, "f" * 63 + "c", radius=31)
    assert texts(browser, ".distance b")[:2] == ["1", "2"] and texts(browser, ".near h3") == ["picture 2", "picture 1"]
    assert "code " + "f" * 64 in texts(browser, ".near .facts")[1]
    assert "2 within 31 of 256 bits" in one(browser, "p[role=status]").text
    press(browser, one(browser, ".results button"))
    assert texts(browser, ".pair .facts") == ["code " + "f" * 63 + "c", "code " + "f" * 63 + "e"]
    assert one(browser, "figcaption").text == "1 of 256 bits differ"
    assert len(browser.find_elements(By.CSS_SELECTOR, ".bits rect")) == 256
    window(browser, 360, 740)
    for path in ("/", "/document?key=1", "/compare?a=1&b=2", "/clusters", "/cluster?keeper=1", "/distances"):
        browser.get(codes_site + path)
        assert browser.execute_script("return document.documentElement.scrollWidth") <= 360, path
        assert len(texts(browser, "h1")) == 1


def test_a_file_is_searched(site: str, browser: Chrome, tmp_path: Path) -> None:
    file = tmp_path / "report.txt"
    file.write_bytes(REPORT.replace(". ", ".\r\n").encode())
    browser.get(site)
    one(browser, "[name=file]").send_keys(str(file))
    press(browser, one(browser, "button.main"))
    assert texts(browser, ".distance b")[0] == "0"
    assert text_field(browser) == REPORT.replace(". ", ".\n")


def test_a_pasted_text_is_compared_with_a_document(site: str, browser: Chrome) -> None:
    paste(browser, site, "Before. " + REPORT)
    press(browser, one(browser, f"button[value='{VERSION}']"))
    assert texts(browser, ".pair h2") == ["Your text", "Ferry terminal closed (Island Courier)"]
    shared = "board at the north pier until the repairs are finished in spring. The office says"
    assert all(any(shared in mark for mark in texts(browser, f"section:nth-child({side}) mark")) for side in (1, 2))
    assert "late on" not in "".join(texts(browser, ".pair mark"))
    assert "of 64 bits differ" in one(browser, "figcaption").text
    differing = len(browser.find_elements(By.CSS_SELECTOR, ".bits .differs"))
    assert one(browser, "figcaption").text.startswith(str(differing))
    assert texts(browser, ".why tbody tr")


def test_documents_are_compared_by_their_keys(site: str, browser: Chrome) -> None:
    browser.get(site + "/compare")
    one(browser, "[name=a]").send_keys("1")
    press(browser, one(browser, "[name=b]"), "2" + Keys.ENTER)
    assert len(texts(browser, ".pair section")) == 2 and "a=1&b=2" in browser.current_url
    marked = one(browser, ".pair mark").value_of_css_property("background-color")
    one(browser, "[value=differences]").click()
    press(browser, one(browser, "button.main"))
    assert one(browser, ".pair .text").value_of_css_property("background-color") != marked
    assert one(browser, ".pair mark").value_of_css_property("background-color") != marked


def test_a_link_leads_to_the_first_difference(site: str, browser: Chrome, owner: psycopg.Connection) -> None:
    """Far down in a text, which has a box of its own."""
    beginning = " ".join(f"number {n} of many words that both texts have" for n in range(400))
    owner.execute("INSERT INTO document (title, body) VALUES ('Long', %s)", [beginning + " as one would expect"])
    try:
        paste(browser, site, beginning + " here it ends otherwise", radius=20)
        press(browser, one(browser, ".results button"))
    finally:
        owner.execute("DELETE FROM document WHERE title = 'Long'")
    box = one(browser, "pre.document")
    assert browser.execute_script("return arguments[0].scrollTop", box) == 0
    one(browser, "section:nth-child(1) .facts a[href='#difference-1']").click()
    assert browser.execute_script("return arguments[0].scrollTop", box) > 1000
    after = browser.execute_script("return document.querySelector('#difference-1').nextSibling.textContent")
    assert after.strip().startswith("here it ends otherwise")


def test_clusters_show_the_keeper_beside_its_duplicates_and_delete_nothing(
    site: str, browser: Chrome, owner: psycopg.Connection
) -> None:
    before = owner.execute("SELECT count(*) FROM document").fetchone()
    browser.get(site + "/clusters")
    one(browser, "[name=radius]").clear()
    press(browser, one(browser, "[name=radius]"), "10" + Keys.ENTER)
    expected = owner.execute(
        """SELECT count(*), sum(n) FROM (SELECT count(*) AS n FROM (
           SELECT near_cluster(id, si, 10) OVER (ORDER BY id) AS keeper FROM document) AS c
           GROUP BY keeper HAVING count(*) > 1) AS c"""
    ).fetchone()
    doomed = owner.execute(
        """SELECT count(*) FILTER (WHERE keeper <> id) FROM (
           SELECT id, near_cluster(id, si, 10, minhash_bits(body, 256, weights)::bit(256)) OVER (ORDER BY id) AS keeper
           FROM document, (SELECT feature_weights(body, 'word:2') AS weights FROM document) AS w) AS c"""
    ).fetchone()
    assert expected is not None and doomed is not None
    assert one(browser, "p[role=status]").text.startswith(f"{expected[0]} clusters have {expected[1]} documents")
    assert texts(browser, "tbody tr")[0].startswith("4 4 Ferry terminal closed (Harbour Post)")
    statements = one(browser, "pre.sql").text
    assert "near_cluster" in statements and "DELETE" in statements
    press(browser, one(browser, "tbody a"))
    assert texts(browser, ".pair h2")[0] == "Ferry terminal closed (Harbour Post)"
    press(browser, one(browser, ".pager a"))
    assert texts(browser, ".pair h2")[1] == "Ferry terminal closed (Evening Mail)"
    press(browser, one(browser, "tbody tr:not(.marked) td:nth-child(2) a"))
    assert texts(browser, ".pair h2")[1] == "Ferry terminal closed (Island Courier)"
    assert owner.execute("SELECT count(*) FROM document").fetchone() == before
    # What is shown does what it says.
    with owner.transaction(force_rollback=True):
        owner.execute(statements.replace("BEGIN;", "").encode())
        kept = owner.execute("SELECT count(*) FROM document").fetchone()
        assert before and kept and 0 < before[0] - kept[0] == doomed[0] <= expected[1] - expected[0]


def test_the_plot_marks_the_recommended_radius(site: str, browser: Chrome, owner: psycopg.Connection) -> None:
    row = owner.execute(
        "SELECT distance FROM hamming_histogram('document', 'si', body => 'body') WHERE to_search").fetchone()
    assert row is not None
    browser.get(site + "/distances")
    assert texts(browser, "text.radius") == [f"recommended radius {row[0]}"]
    assert one(browser, "tr.marked").text.startswith(f"recommended: {row[0]} ")
    assert len(texts(browser, ".wide tbody tr")) == 65
    pairs = owner.execute(
        """SELECT count(*), count(*) FILTER (WHERE distance <= %s)
           FROM hamming_histogram('document', 'si') WHERE pairs > 0""",
        row,
    ).fetchone()
    plot = one(browser, ".plot")
    assert pairs == tuple(len(plot.find_elements(By.CSS_SELECTOR, kind)) for kind in ("rect", "rect.near"))


@pytest.mark.parametrize("number", range(len(HOSTILE)))
def test_a_hostile_document_is_text(site: str, browser: Chrome, number: int) -> None:
    title, text = HOSTILE[number]
    key = ATTACK + 2 * number
    visible = {ord(control): f"‹U+{ord(control):04X}›" for control in "\x01\x1b\x7f\x9b\u202c\u202e"}
    title = title.translate(visible)
    shown = text.translate(visible)
    addresses = [f"/document?key={key}", f"/compare?a={key}&b={key + 1}", f"/cluster?radius=20&keeper={key}"]
    for address in addresses:
        browser.get(site + address)
        assert shown in content(browser, "pre.document")
        assert title in content(browser, "main")
        harmless(browser)
    paste(browser, site, text, radius=20)
    assert text_field(browser) == text
    assert title in [bdi.get_property("textContent") for bdi in browser.find_elements(By.CSS_SELECTOR, ".near bdi")]
    harmless(browser)
    press(browser, one(browser, ".results button"))
    harmless(browser)


def harmless(browser: Chrome) -> None:
    """Nothing of a document has become an element."""
    assert "pwned" not in browser.title
    assert browser.execute_script("return document.scripts.length + document.images.length") == 0
    assert browser.execute_script(
        "return [...document.all].filter(e => [...e.attributes].some(a => a.name.startsWith('on'))).length"
    ) == 0


def test_right_to_left_text_stays_in_its_frame(site: str, browser: Chrome) -> None:
    browser.get(f"{site}/document?key={ATTACK + 4}")
    assert one(browser, "pre.document").get_attribute("dir") == "auto"
    assert one(browser, "h1 bdi").value_of_css_property("unicode-bidi") == "isolate"


def test_hostile_names_and_keys(odd_site: str, browser: Chrome) -> None:
    for title, _ in HOSTILE:
        key = title + "?&a=1#b/.."
        shown = key.replace("\u202e", "‹U+202E›").replace("\u202c", "‹U+202C›")
        browser.get(f"{odd_site}/document?key={quote(key, safe='')}")
        assert shown in content(browser, ".facts")
        harmless(browser)
        press(browser, one(browser, ".results button"))
        assert len(texts(browser, ".pair section")) == 2
        harmless(browser)
    browser.get(odd_site + "/clusters?radius=64")
    assert 'DELETE FROM "an ""odd"" one"."%s{table}"' in one(browser, "pre.sql").text
    press(browser, one(browser, "tbody a"))
    assert len(texts(browser, ".pair section")) == 2
    browser.get(odd_site + "/distances")
    assert len(texts(browser, ".wide tbody tr")) == 65


@pytest.mark.parametrize("address", PAGES)
def test_a_phone_needs_no_scrolling_to_the_side(site: str, browser: Chrome, address: str) -> None:
    window(browser, 360, 740)
    browser.get(site + address)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360


@pytest.mark.parametrize("address", PAGES)
def test_a_page_can_be_read_aloud(site: str, browser: Chrome, address: str) -> None:
    browser.get(site + address)
    assert len(texts(browser, "h1")) == 1
    assert one(browser, "html").get_attribute("lang") == "en"
    controls = "input:not([type=hidden]), textarea, button, a, svg, nav, [role=region]"
    for control in browser.find_elements(By.CSS_SELECTOR, controls):
        assert control.accessible_name, control.get_attribute("outerHTML")
    ids = [element.get_attribute("id") for element in browser.find_elements(By.CSS_SELECTOR, "[id]")]
    assert len(ids) == len(set(ids))


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_colours_have_contrast(site: str, browser: Chrome, scheme: str) -> None:
    """At least 4.5 to 1, as WCAG 2 asks for."""
    media(browser, scheme)
    browser.get(site + "/compare?a=1&b=2&show=differences")
    names = ("paper", "raised", "ink", "faint", "accent", "on-accent", "mark", "rest")
    colour = {
        name: luminance(browser.execute_script(
            "return getComputedStyle(document.documentElement).getPropertyValue(arguments[0])", f"--{name}"))
        for name in names
    }
    pairs = [(text, ground) for text in ("ink", "faint", "accent") for ground in ("paper", "raised")]
    for text, ground in [*pairs, ("ink", "mark"), ("ink", "rest"), ("on-accent", "accent")]:
        light, dark = sorted([colour[text], colour[ground]], reverse=True)
        assert (light + 0.05) / (dark + 0.05) >= 4.5, (text, ground)


def luminance(colour: str) -> float:
    parts = (int(colour.strip()[i : i + 2], 16) / 255 for i in (1, 3, 5))
    red, green, blue = (part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


@pytest.mark.parametrize("text, said", [("", "no text"), ("  \n", "no text"), ("… !", "no words")])
def test_nothing_to_look_for(site: str, browser: Chrome, text: str, said: str) -> None:
    paste(browser, site, text)
    assert said in one(browser, "[role=status]").text


def test_nothing_is_near(site: str, browser: Chrome) -> None:
    paste(browser, site, "Entirely other words stand here and have been written by nobody else so far", radius=5)
    assert one(browser, "[role=status]").text.startswith("None within 5 of 64 bits")
    assert not browser.find_elements(By.CSS_SELECTOR, ".near")


def test_long_texts_are_shown_by_their_passages(site: str, browser: Chrome) -> None:
    paste(browser, site, "x " * 150_000 + REPORT, radius=64)
    browser.execute_script("arguments[0].value = '1'", one(browser, ".results button"))
    press(browser, one(browser, ".results button"))
    assert "These texts are long" in one(browser, ".note").text
    assert any("divers found cracks" in mark for mark in texts(browser, "section:nth-child(1) mark"))
    assert len(one(browser, "pre.document").text) < 10_000


def test_a_text_that_is_too_large_is_refused(site: str, browser: Chrome, tmp_path: Path) -> None:
    file = tmp_path / "large.txt"
    file.write_text("some words " * 600_000)
    browser.get(site)
    one(browser, "[name=file]").send_keys(str(file))
    press(browser, one(browser, "button.main"))
    assert one(browser, "h1").text == "This is too large"


@pytest.mark.skipif("SCREENSHOTS" not in os.environ, reason="SCREENSHOTS names no folder")
def test_screenshots(site: str, browser: Chrome) -> None:
    folder = Path(os.environ["SCREENSHOTS"])
    folder.mkdir(parents=True, exist_ok=True)
    window(browser, 1000, 700)
    paste(browser, site, REPORT.replace("Passengers", "All passengers").replace("Friday", "Friday night"))
    browser.execute_script("document.querySelector('#text').rows = 4")
    picture(browser, folder / "search.png")
    for name, address, height in [
        ("clusters", "/cluster?radius=10&keeper=5", 720), ("compare", "/compare?a=1&b=3&min=20", 930),
        ("distances", "/distances", 640),
    ]:
        window(browser, 1000, height)
        browser.get(site + address)
        picture(browser, folder / f"{name}.png")


def picture(browser: Chrome, file: Path) -> None:
    shot = browser.execute_cdp_cmd("Page.captureScreenshot", {"format": "png"})
    file.write_bytes(base64.b64decode(shot["data"]))
