#!/usr/bin/env python3
"""A real Prometheus scrapes a job that waits for its data, and the alert of docs/observability/alerts.yml fires.

    prometheus_test.py PROGRAM     the shell `dataline`; 77 without prometheus and promtool (Debian: prometheus)

The windows of the rules are minutes; here they are seconds, else nothing of them is changed.
SPDX-License-Identifier: Apache-2.0
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.parse
import urllib.request

ROOT = pathlib.Path(__file__).resolve().parents[2]
RULES = ROOT / "docs" / "observability"
SERIES = re.compile(r"dataline_[a-z_]+")
URL = re.compile(r"http://[\w.:/]+")
# A job that decodes nothing but is not fast enough for a consumer that does nothing else: it waits nearly all the time.
SECONDS = 12


def get(url):
    """The body."""
    with urllib.request.urlopen(url, timeout=10) as answer:
        return answer.read().decode()


def ask(port, query):
    """What Prometheus says to a query: a list of (labels, value)."""
    text = get(f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": query}))
    return [(one["metric"], float(one["value"][1])) for one in json.loads(text)["data"]["result"]]


def promtool(*words, text=None):
    """Runs it; its complaints are ours."""
    done = subprocess.run(["promtool", *words], input=text, capture_output=True, text=True, cwd=RULES)
    if done.returncode != 0:
        sys.exit(f"promtool {' '.join(map(str, words))}: {done.stdout}{done.stderr}")


def check_names(text):
    """What rules and dashboard ask for is there."""
    known = set(SERIES.findall(text))
    for file in ("alerts.yml", "dashboard.json"):
        asked = set(SERIES.findall((RULES / file).read_text()))
        if not asked <= known:
            sys.exit(f"{file}: there is no {sorted(asked - known)}")
    dashboard = json.loads((RULES / "dashboard.json").read_text())
    places = [tuple(panel["gridPos"].values()) for panel in dashboard["panels"]]
    if len(set(places)) != len(places) or not all(panel["targets"] for panel in dashboard["panels"]):
        sys.exit("dashboard.json: panels in one place, or without a query")


def start_prometheus(folder, target):
    """With short windows; its process and port."""
    rules = (RULES / "alerts.yml").read_text()
    rules = re.sub(r"\[\d+[mh]\]", "[5s]", rules)
    rules = re.sub(r"for: \d+m", "for: 1s", rules)
    (folder / "alerts.yml").write_text(rules)
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 1s, evaluation_interval: 1s}\n"
        "rule_files: [alerts.yml]\n"
        f"scrape_configs: [{{job_name: train, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    process = subprocess.Popen(
        ["prometheus", f"--config.file={folder}/prometheus.yml", f"--storage.tsdb.path={folder}/data",
         "--web.listen-address=127.0.0.1:0", "--log.level=info"],
        stderr=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True,
    )
    for line in process.stderr:
        found = re.search(r"Listening on.*address=127\.0\.0\.1:(\d+)", line)
        if found:
            return process, int(found.group(1))
    sys.exit("prometheus did not start")


def wait_until_ready(port):
    """It listens before it answers: 503 until then."""
    while True:
        try:
            return get(f"http://127.0.0.1:{port}/-/ready")
        except urllib.error.HTTPError as error:
            if error.code != 503:
                raise
            time.sleep(0.05)


def wait_for_alert(port, job):
    """Until it fires, while the job runs."""
    wait_until_ready(port)
    while job.poll() is None:
        firing = ask(port, 'ALERTS{alertname="DatalineExposedLoading",alertstate="firing"}')
        if firing:
            return firing
        time.sleep(0.2)
    sys.exit("the job is over, and no alert fired")


def main():
    """See above."""
    if not shutil.which("prometheus") or not shutil.which("promtool"):
        print("skipped: there is no prometheus with promtool (Debian: prometheus)")
        sys.exit(77)
    promtool("check", "rules", "alerts.yml")
    promtool("test", "rules", "alerts_test.yml")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "rows").write_bytes(bytes(1 << 20))
        job = subprocess.Popen(
            [sys.argv[1], "bench", f"raw:{folder}/rows?dtype=u8&shape=1024", "--metrics", "0", "--stats", "full",
             "--num-workers", "1", "--batch-size", "64", "--seconds", str(SECONDS)],
            stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        )
        url = next(found[0] for line in job.stderr if (found := URL.search(line)))
        text = get(url)
        promtool("check", "metrics", text=text)
        check_names(text)
        prometheus, port = start_prometheus(folder, url.split("/")[2])
        try:
            ((labels, _),) = wait_for_alert(port, job)
            assert labels["job"] == "train" and labels["severity"] == "warning", labels
            ((_, exposed),) = ask(port, "dataline:exposed_seconds_per_step:max")
            assert exposed > 0, exposed
            assert ask(port, 'sum by (stage) (dataline_worker_work_seconds_total{stage="data: copy"}) > 0')
            assert ask(port, "up == 1")
        finally:
            prometheus.terminate()
            prometheus.communicate()
        report, _ = job.communicate()
    assert job.returncode == 0 and "% data: copy" in report, report
    print(f"the alert fired; {exposed * 1e6:.2f} us of each step were exposed")


if __name__ == "__main__":
    main()
