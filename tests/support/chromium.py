"""A headless Chromium that opens a page as a reader would, and reports the page's faults."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

import pytest
from selenium import webdriver
from selenium.common.exceptions import WebDriverException
from selenium.webdriver.chrome.service import Service

# Elements beyond the right edge that are in no scrolling box, and the distance by which the page itself could scroll.
OVERFLOW = """
const scrolls = (element) => element && element !== document.documentElement && element !== document.body &&
    (["auto", "scroll", "hidden"].includes(getComputedStyle(element).overflowX) || scrolls(element.parentElement));
const wide = [...document.querySelectorAll("body *")].filter((element) =>
    element.getBoundingClientRect().right > innerWidth + 1 && !scrolls(element.parentElement));
const beyond = document.documentElement.scrollWidth - innerWidth;
return [...wide.map((element) => element.outerHTML.slice(0, 80)), ...(beyond > 0 ? [`${beyond} px to scroll`] : [])];
"""

BROKEN_IMAGES = """
const done = arguments[0];
const name = (image) => image.decode().then(() => null, () => image.src.slice(0, 80));
Promise.all([...document.images].map(name)).then((names) => done(names.filter(Boolean)));
"""


@dataclass(frozen=True)
class Faults:
    """Faults that a reader would notice; all lists are empty for a page without faults."""

    broken_images: list[str]
    errors: list[str]
    requests: list[str]
    overflow: list[str]


@contextmanager
def browser() -> Iterator[webdriver.Chrome]:
    """A browser for as long as the block lasts."""
    options = webdriver.ChromeOptions()
    options.binary_location = shutil.which("chromium") or ""
    # Root, as in a container, has no sandbox; its shared memory may be small.
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    try:
        # The driver's path, because without it Selenium would ask the network for one.
        driver = webdriver.Chrome(options=options, service=Service(shutil.which("chromedriver")))
    except WebDriverException as error:
        pytest.skip(f"Chromium is there, but doesn't start: {str(error.msg).splitlines()[0]}")
    try:
        yield driver
    finally:
        driver.quit()


def open_page(driver: webdriver.Chrome, page: Path, width: int) -> Faults:
    """Open a file at a width in CSS pixels, and look at all of it."""
    size = {"width": width, "height": 800, "deviceScaleFactor": 1, "mobile": False}
    driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    for kind in ("browser", "performance"):
        driver.get_log(kind)  # Drop the previous page's entries.
    driver.get(page.resolve().as_uri())
    driver.execute_script("document.querySelectorAll('details').forEach((details) => { details.open = true; })")
    images = driver.execute_async_script(BROKEN_IMAGES)
    overflow = driver.execute_script(OVERFLOW)
    events = [json.loads(entry["message"])["message"] for entry in driver.get_log("performance")]
    urls = [event["params"]["request"]["url"] for event in events if event["method"] == "Network.requestWillBeSent"]
    return Faults(
        broken_images=images,
        errors=[entry["message"] for entry in driver.get_log("browser") if entry["level"] == "SEVERE"],
        requests=[url for url in urls if not url.startswith("data:") and _path(url) != page.resolve()],
        overflow=overflow,
    )


def _path(url: str) -> Path | None:
    parts = urlsplit(url)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None
