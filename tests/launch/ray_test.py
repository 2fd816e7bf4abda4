"""Under Ray, on a cluster of two nodes that are this machine: examples/launch/train_ray.py, whose group loses a node while it runs and
gets another one, delivers the stream of one process; and dataline.ray.Datasource gives Ray Data its rows.

  ray_test.py      with a Python that has dataline and ray[train,data]

SPDX-License-Identifier: Apache-2.0
"""

import collections
import os
import pathlib
import sys
import subprocess
import tempfile
import time

from job import BUILD, ROOT, make_data, records_of, skip

# Groups are formed within seconds here, a node that is lost is missed after ten, and there is nobody to keep out.
os.environ.update(RAY_health_check_period_ms="1000", RAY_health_check_failure_threshold="10",
                  RAY_TRAIN_WORKER_GROUP_START_TIMEOUT_S="30", RAY_AUTH_MODE="disabled", RAY_TRAIN_V2_ENABLED="1")
try:
    import ray
    import ray.cluster_utils
    import ray.data
    import ray.train
except ModuleNotFoundError as missing:
    skip(f"{missing.name} is not installed: pip install 'ray[train,data]'")
try:
    import dataline
    import dataline.ray
except ModuleNotFoundError as missing:
    skip(f"{missing.name} is not installed beside Ray")

PROGRAM = ROOT / "examples" / "launch" / "train_ray.py"
STEPS = int(os.environ.get("DATALINE_RAY_STEPS", "60"))
SECONDS = 420


def steps_there(folder):
    return max((int(path.name[:8]) + len(records_of(path)) for path in folder.glob("0*")), default=0)


def disturb(cluster, nodes, folder, job):
    """Takes a node away when a third of the steps are there, and brings another one when half of them are."""
    end, told = time.monotonic() + SECONDS, []

    def wait_for(step):
        while steps_there(folder) < step:
            assert job.poll() is None and time.monotonic() < end, f"the job does not get to step {step}"
            time.sleep(0.2)  # others work meanwhile

    wait_for(STEPS // 3)
    cluster.remove_node(nodes.pop(), allow_graceful=False)
    told.append(f"a node lost at step {steps_there(folder)}")
    wait_for(STEPS // 2)
    nodes.append(cluster.add_node(num_cpus=2))
    told.append(f"a node more at step {steps_there(folder)}")
    return told


def joined(folder):
    """The stream: of each life the steps before the next one's begin, of all its ranks."""
    lives = collections.defaultdict(dict)
    for path in folder.glob("0*"):
        begin, size, rank, _, moment = map(int, path.name.split("."))
        lives[begin, size].setdefault(rank, []).append((moment, path))
    ordered = sorted(lives, key=lambda life: max(moment for tries in lives[life].values() for moment, _ in tries))
    steps, sizes = {}, []
    for begin, size in ordered:
        tries = lives[begin, size]
        if len(tries) < size:
            continue  # died before all of its ranks had begun
        parts = [records_of(max(tries[rank])[1]) for rank in range(size)]
        sizes.append(size)
        for at in range(min(map(len, parts))):
            steps[begin + at] = b"".join(part[at].data for part in parts)
    assert sorted(steps) == list(range(len(steps))), "a step is missing"
    return b"".join(steps[at] for at in sorted(steps)), len(steps), sizes


def expected(uri, steps):
    loader = dataline.Loader(uri, global_batch_size=24, shuffle=True, seed=5)
    found = b""
    while steps:
        batch = loader.next()
        if batch is not None:
            found += batch.tensor("data").tobytes()
            steps -= 1
    return found


def check_training(cluster, nodes, folder, uri):
    environment = {**os.environ, "RAY_ADDRESS": cluster.address}
    with open(folder / "log", "wb") as log:
        job = subprocess.Popen([sys.executable, PROGRAM, uri, folder, str(STEPS)], env=environment, stdout=log, stderr=log)
    try:
        told = disturb(cluster, nodes, folder, job)
        assert job.wait(SECONDS) == 0, (folder / "log").read_text()[-3000:]
    finally:
        job.kill()
        job.wait()
    stream, steps, sizes = joined(folder)
    assert steps == STEPS, (steps, STEPS)
    assert stream == expected(uri, steps), "the stream is not that of one process"
    assert len(sizes) >= 2 and len(set(sizes)) >= 2, f"the group was not resized: {sizes}"
    print(f"Ray Train: groups of {', '.join(map(str, sizes))} workers ({'; '.join(told)}); {steps} steps, the bytes of one process")


def check_data(uri):
    ray.data.DataContext.get_current().execution_options.preserve_order = True
    source = dataline.ray.Datasource(uri, shuffle=True, seed=3, batch_size=32)
    rows = ray.data.read_datasource(source, override_num_blocks=5)
    assert rows.count() == 1000
    loader = dataline.Loader(uri, shuffle=True, seed=3, batch_size=32)
    one = [int(value) for batch in loader for value in batch["data"]]
    assert [int(row["data"]) for row in rows.take_all()] == one, "rows of Ray Data are not the loader's"
    print("Ray Data: 1000 rows in 5 blocks, in the order of one process")


def main():
    began = time.monotonic()
    with tempfile.TemporaryDirectory(prefix="dataline-ray-") as name:
        folder = pathlib.Path(name)
        uri = make_data(folder)
        cluster = ray.cluster_utils.Cluster(initialize_head=True, head_node_args={"num_cpus": 0, "include_dashboard": False})
        try:
            nodes = [cluster.add_node(num_cpus=2) for _ in range(2)]
            ray.init(address=cluster.address, log_to_driver=False)
            check_data(uri)
            check_training(cluster, nodes, folder, uri)
        finally:
            ray.shutdown()
            cluster.shutdown()
    print(f"Ray {ray.__version__}: {time.monotonic() - began:.0f} s ({BUILD.name})")


if __name__ == "__main__":
    main()
