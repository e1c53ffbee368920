# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import shutil

import pytest

import sluice

ROOT = pathlib.Path(os.environ.get("SLUICE_ROOT", pathlib.Path(__file__).parents[3]))
MODEL = ROOT / "tests/models/residual_cnn_int8.tflite"


@pytest.fixture(scope="session")
def graph():
    return sluice.Graph.load(MODEL)


@pytest.fixture(scope="session")
def plan(graph):
    return sluice.schedule(graph, "mcu-256k")


@pytest.fixture(scope="session")
def tool():
    if not os.environ.get("SLUICE_TOOL"):
        pytest.skip("without the tool (SLUICE_TOOL)")
    return os.environ["SLUICE_TOOL"]


def opened(webdriver, options, driver):
    """A browser that shows pages. On a busy machine one sometimes starts and never does."""
    from selenium.common.exceptions import WebDriverException

    for _ in range(2):
        service = webdriver.ChromeService(driver)
        try:
            made = webdriver.Chrome(options, service)
        except WebDriverException:
            continue
        made.command_executor.client_config.timeout = 40
        made.set_page_load_timeout(20)
        try:
            made.get("data:text/html,<p>here</p>")
            return made
        except Exception:  # of the driver, or of its connection
            service.process.kill()
    pytest.skip("chromium starts and shows no page here")


@pytest.fixture(scope="module")
def browser():
    webdriver = pytest.importorskip("selenium.webdriver", reason="without selenium")
    driver, chromium = shutil.which("chromedriver"), shutil.which("chromium")
    if not driver or not chromium:
        pytest.skip("without chromium and chromium-driver: no browser saw this")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for argument in ("--headless=new", "--no-sandbox", "--disable-gpu",
                     "--disable-dev-shm-usage", "--window-size=1400,1000",
                     "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    made = opened(webdriver, options, driver)
    yield made
    made.quit()
