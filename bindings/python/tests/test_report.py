# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: headless Chromium with its driver, where they are."""
import json
import subprocess

import pytest

import sluice


def test_the_page_is_the_tool_s(plan, tool, tmp_path):
    plan.save(tmp_path / "p.slp")
    subprocess.run([tool, "report", tmp_path / "p.slp", "-o", tmp_path / "tool.html"],
                   check=True, stdout=subprocess.DEVNULL)
    plan.to_html(tmp_path / "ours.html")
    assert (tmp_path / "tool.html").read_bytes() == (tmp_path / "ours.html").read_bytes()


def test_a_plan_of_another_graph_has_no_page(plan):
    other = sluice.Plan(plan.to_bytes(), sluice.Graph.zoo("alexnet"), "mcu-256k")
    for call in (other.to_html, other.trace, other.simulate):
        with pytest.raises(sluice.BadInput, match="made for the graph with hash [0-9a-f]{16}; "
                           "the one that is given has [0-9a-f]{16}") as caught:
            call()
        assert (caught.value.diagnostic.stage, caught.value.diagnostic.rule) == ("simulate",
                                                                                 "plan")


@pytest.fixture
def page(browser, plan, tmp_path):
    plan.to_html(tmp_path / "r.html")
    browser.get(f"file://{tmp_path}/r.html")
    yield browser
    assert [entry for entry in browser.get_log("browser")] == []


def chart(page):
    return page.find_element("css selector", "canvas")


def shown(page):
    return page.execute_script("return [charts[0].from, charts[0].to]")


def test_summary_and_tables_have_the_plan_s_numbers(page, plan):
    text = page.find_element("tag name", "main").text
    assert f"{plan.report.latency_cycles:,} cycles" in text
    assert f"{plan.report.gap:.3f}" in text
    rows = page.find_elements("css selector", "section table:first-of-type tbody")[0]
    assert len(rows.find_elements("tag name", "tr")) == (plan.layers.limit != "nothing").sum()


def test_the_timeline_zooms_moves_and_shows_all(page, plan):
    canvas, end = chart(page), plan.report.latency_cycles
    assert shown(page) == [0, end]
    canvas.send_keys("+")
    start, stop = shown(page)
    assert stop - start == pytest.approx(end / 2)
    page.find_element("css selector", "[aria-label=later]").click()
    assert shown(page)[0] > start
    page.execute_script(
        "arguments[0].focus(); arguments[0].dispatchEvent(new WheelEvent('wheel',"
        "{deltaY: -300, bubbles: true, cancelable: true, clientX: 700, clientY: 300}))", canvas)
    assert shown(page)[1] - shown(page)[0] < end / 2
    page.find_element("css selector", "[aria-label='show all']").click()
    assert shown(page) == [0, end]


def test_hovering_names_layer_and_tensor(page, plan):
    from selenium.webdriver import ActionChains

    canvas = chart(page)
    rows = page.execute_script("return charts[0].plan.rows.map((r) => r.name)")
    row = rows.index("COMPUTE")
    bar = page.execute_script(f"return charts[0].plan.rows[{row}].bars[0]")
    x = page.execute_script("return charts[0].x(arguments[0])", (bar[0] + bar[1]) / 2)
    size = canvas.size

    def hover(x, y):
        ActionChains(page).move_to_element_with_offset(
            canvas, int(x - size["width"] / 2), int(y - size["height"] / 2)).perform()
        tip = page.find_element("id", "tip")
        return tip.text if tip.is_displayed() else None

    assert "stem" in hover(x, 4 + 30 * row + 15)
    x, y = page.execute_script("""
      const c = charts[0], b = c.plan.buffers[0], p = b.pieces.find((q) => q[6] !== null &&
        (q[3] - q[2]) / b.top > 0.02), top = 4 + c.rowHeight * c.plan.rows.length;
      return [c.x((p[0] + p[1]) / 2), top + c.padHeight * (1 - (p[2] + p[3]) / 2 / b.top)];""")
    assert "tensor" in hover(x, y)
    assert hover(20, 10) is None


def test_tables_sort_and_say_so(page):
    head = [th for th in page.find_elements("css selector", "th") if "tile cycles" in th.text][0]

    def column():
        return page.execute_script("""
          const th = arguments[0], i = [...th.parentNode.children].indexOf(th);
          return [...th.closest("table").tBodies[0].rows].map((r) =>
            Number(r.cells[i].textContent.replaceAll(",", "")));""", head)

    button = head.find_element("tag name", "button")
    button.click()
    assert column() == sorted(column(), reverse=True)
    assert head.get_attribute("aria-sort") == "descending"
    button.click()
    assert column() == sorted(column()) and head.get_attribute("aria-sort") == "ascending"


def test_keys_go_from_bar_to_bar_and_a_row_shows_its_time(page):
    canvas = chart(page)
    canvas.send_keys("n")
    said = page.find_element("css selector", ".said").text
    assert "cycles" in said and page.find_element("css selector", ".said[aria-live=polite]")
    canvas.send_keys("n")
    assert page.find_element("css selector", ".said").text != said
    before = shown(page)
    page.find_elements("css selector", "tbody tr")[3].click()
    assert shown(page) != before


def test_dark_and_print_and_narrow_have_no_errors(page):
    for features in ([{"name": "prefers-color-scheme", "value": "dark"}], []):
        page.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
        colour = page.execute_script("return getComputedStyle(document.body).backgroundColor")
        assert (colour == "rgb(255, 255, 255)") == (not features)
    pdf = page.execute_cdp_cmd("Page.printToPDF", {})
    assert len(pdf["data"]) > 1000
    page.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                         {"width": 420, "height": 800, "deviceScaleFactor": 2, "mobile": True})
    wide = page.execute_script("return document.documentElement.scrollWidth")
    page.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert wide <= 420


def test_long_names_of_layers_stay_inside_their_plan(browser, plan, graph, tmp_path):
    """Names from TensorFlow Lite may have hundreds of characters and no space."""
    name = "model/" + "conv_bn;relu6;" * 30
    html = plan.to_html(against=plan).replace('"gap":"', f'"gap":"{name} ')
    (tmp_path / "long.html").write_text(html)
    browser.get(f"file://{tmp_path}/long.html")
    assert name in browser.find_element("css selector", "section .sub").text
    assert browser.execute_script(
        "return document.documentElement.scrollWidth <= window.innerWidth")
    assert browser.get_log("browser") == []


NAME = "FeatureExtractor/MobilenetV2/expanded_conv_{}/project/add_fold_of_the_layer (conv)"


@pytest.fixture
def named(browser, plan, tmp_path):
    """A page whose layers have the names of a TensorFlow Lite model."""
    def rename(html):
        head, rest = html.split('id="data">')
        data, tail = rest.split("</script>", 1)
        plans = json.loads(data)
        for row in plans[0]["layers"]:
            row["name"] = NAME.format(row["layer"])
        return f'{head}id="data">{json.dumps(plans)}</script>{tail}'

    (tmp_path / "named.html").write_text(rename(plan.to_html()))
    browser.get(f"file://{tmp_path}/named.html")
    yield browser
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert browser.get_log("browser") == []


def test_names_that_begin_alike_are_told_apart(named):
    cells = named.find_elements("css selector", "section table:first-of-type td.name")
    seen = named.execute_script(
        "return arguments[0].map((c) => c.scrollWidth <= c.clientWidth && c.textContent)", cells)
    assert False not in seen[:10] and len(set(seen[:10])) == 10
    assert cells[0].get_attribute("title") == NAME.format(0)


def test_the_printed_table_keeps_a_layer_to_two_lines(named):
    named.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    named.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                          {"width": 720, "height": 1000, "deviceScaleFactor": 1, "mobile": False})
    heights = named.execute_script(
        "return [...document.querySelectorAll('tbody tr')].slice(0, 8).map((r) => r.offsetHeight)")
    assert max(heights) < 40
    box = named.execute_script("const s = document.querySelector('.scroll'); "
                               "return s.scrollHeight <= s.clientHeight + 1")
    assert box  # all rows are on paper


def test_headings_stay_and_one_key_passes_the_table(browser, graph, tmp_path):
    from selenium.webdriver import ActionChains, Keys

    large = sluice.schedule(sluice.Graph.zoo("googlenet"), "soma-edge", solver="baseline")
    large.to_html(tmp_path / "large.html")
    browser.get(f"file://{tmp_path}/large.html")
    there = browser.execute_script(
        "const s = document.querySelector('.scroll'); s.scrollTop = s.scrollHeight;"
        "return [s.scrollTop, s.querySelector('th').getBoundingClientRect().top"
        " - s.getBoundingClientRect().top]")
    assert there[0] > 300 and abs(there[1]) < 4
    rows = browser.find_elements("css selector", "section table:first-of-type tbody tr")
    assert len([r for r in rows if r.get_attribute("tabindex") == "0"]) == 1
    browser.execute_script("arguments[0].focus()", rows[0])
    before = shown(browser)
    ActionChains(browser).send_keys(Keys.ARROW_DOWN, Keys.ARROW_DOWN, Keys.ENTER).perform()
    assert browser.execute_script("return document.activeElement === arguments[0]", rows[2])
    assert "lit" in rows[2].get_attribute("class") and shown(browser) != before
    browser.execute_script("arguments[0].focus()", rows[2])
    ActionChains(browser).send_keys(Keys.TAB).perform()
    assert not browser.execute_script(
        "return document.querySelector('tbody').contains(document.activeElement)")
    assert browser.get_log("browser") == []


def test_two_plans_stand_side_by_side(browser, plan, graph, tmp_path):
    other = sluice.schedule(graph, "mcu-256k", scratchpad_bytes=48 << 10, solver="baseline")
    html = plan.to_html(tmp_path / "two.html", against=other)
    assert len(json.loads(html.split('id="data">')[1].split("</script>")[0])) == 2
    browser.get(f"file://{tmp_path}/two.html")
    rows = browser.find_elements("css selector", "#compare tbody tr")
    first, second = plan.report.latency_cycles, other.report.latency_cycles
    assert rows[0].text.split()[-3:-1] == [f"{first:,}", f"{second:,}"]
    assert float(rows[0].text.split()[-1][1:]) == pytest.approx(second / first, rel=1e-3)
    headings = [h.text for h in browser.find_elements("css selector", "section > h2:first-child")]
    assert [h.split(":")[0] for h in headings] == ["First", "Second"]
    assert len(browser.find_elements("css selector", "canvas")) == 2
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride",
                            {"width": 1265, "height": 800, "deviceScaleFactor": 1, "mobile": False})
    tops = browser.execute_script(
        "return [...document.querySelectorAll('section')].map((s) => s.getBoundingClientRect().top)")
    browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    assert tops[0] == tops[1]  # in a window as wide as a small laptop's
    assert browser.get_log("browser") == []


def test_two_plans_have_one_time_scale_and_each_its_own_where_asked(browser, graph, tmp_path):
    fast = sluice.Machine.preset("mcu-256k")
    slow = fast.replace({"clock_hz": fast.clock_hz // 2})
    plans = [sluice.schedule(graph, machine) for machine in (fast, slow)]
    plans[0].to_html(tmp_path / "two.html", against=plans[1])
    browser.get(f"file://{tmp_path}/two.html")
    cycles = [plan.report.latency_cycles for plan in plans]
    assert cycles[0] == cycles[1]  # half as many seconds

    def ranges():
        return browser.execute_script("return charts.map((c) => [c.from, c.to])")

    box = browser.find_element("css selector", "#scale")
    assert box.is_selected() and "one time scale" in box.find_element("xpath", "..").text
    assert ranges() == [[0, 2 * cycles[0]], [0, cycles[1]]]
    second = browser.find_elements("css selector", "button[aria-label='zoom in']")[1]
    second.click()
    (a, b), (c, d) = ranges()
    assert (a, b) == (2 * c, 2 * d) and d - c == pytest.approx(cycles[1] / 2)
    box.click()
    assert ranges() == [[0, cycles[0]], [0, cycles[1]]]
    second.click()
    assert ranges()[0] == [0, cycles[0]] and ranges()[1] != [0, cycles[1]]
    assert browser.get_log("browser") == []


def test_segments_are_the_plan_s_and_plans_without_have_blocks(browser, plan, graph, tmp_path):
    for made, heading, numbers in (
            (plan, "Segments", list(plan.layers.segment.dropna().unique())),
            (sluice.schedule(graph, "mcu-256k", solver="baseline"), "Blocks", None)):
        made.to_html(tmp_path / "r.html")
        browser.get(f"file://{tmp_path}/r.html")
        titles = [h.text for h in browser.find_elements("css selector", "h2")]
        assert heading in titles and not {"Segments", "Blocks"} - {heading} & set(titles)
        rows = browser.execute_script(
            "const h = [...document.querySelectorAll('h2')].find((h) => h.textContent === "
            f"'{heading}'); return [...h.nextSibling.querySelectorAll('tbody tr')].map((r) => "
            "+r.firstChild.textContent)")
        worked = made.layers[made.layers.limit != "nothing"]
        assert rows == (numbers or sorted(worked.block.unique()))
        assert browser.get_log("browser") == []


def test_a_mesh_is_seen_at_once_and_one_of_its_scratchpads(browser, tmp_path):
    from selenium.webdriver.support.select import Select

    mesh = sluice.schedule(sluice.Graph.zoo("mlp_l", batch=64), "kapla-16x16")
    mesh.to_html(tmp_path / "mesh.html")
    browser.get(f"file://{tmp_path}/mesh.html")
    chart = browser.find_element("css selector", "canvas")
    nodes = browser.execute_script("return charts[0].plan.buffers.length")
    assert nodes > 100 and chart.size["height"] < 1600
    pixels = "return arguments[0].toDataURL()"
    before = browser.execute_script(pixels, chart)
    Select(browser.find_element("css selector", ".tools select")).select_by_index(nodes - 1)
    assert browser.execute_script(pixels, chart) != before
    last = browser.execute_script("return charts[0].buffers.map((b) => b.name)")
    assert last == [browser.execute_script("return charts[0].plan.buffers.at(-1).name")]
    found = browser.execute_script("""
      const c = charts[0], i = c.plan.rows.length - 1, bar = c.plan.rows[i].bars[0];
      return c.at(c.x((bar[0] + bar[1]) / 2), (c.tops[i] + c.tops[i + 1]) / 2).text;""")
    assert " node " in found
    assert browser.get_log("browser") == []


def test_a_long_plan_is_drawn_from_few_rectangles(browser, tmp_path):
    """A plan of more tiles than pixels is dragged without waiting."""
    many = sluice.schedule(sluice.Graph.zoo("gpt2_small_prefill"), "mcu-256k",
                           solver="baseline", scratchpad_bytes=196608)
    many.to_html(tmp_path / "many.html")
    browser.get(f"file://{tmp_path}/many.html")
    drawn, bars = browser.execute_script("""
      const g = CanvasRenderingContext2D.prototype, real = g.fillRect;
      let drawn = 0;
      g.fillRect = function (...a) { ++drawn; real.apply(this, a); };
      charts[0].draw();
      g.fillRect = real;
      const p = charts[0].plan, count = (xs, of) => xs.reduce((n, x) => n + x[of].length, 0);
      return [drawn, count(p.rows, "bars") + count(p.buffers, "pieces")];""")
    assert bars > 50000 and drawn < bars / 3
    assert browser.get_log("browser") == []
