"""The programs that take part in a row, and how they are talked to: each says when it is ready with one line of JSON,
and answers each line `round` with another. What else a program prints is kept, to be quoted when it fails.
SPDX-License-Identifier: Apache-2.0
"""
import json
import os
import pathlib
import queue
import signal
import subprocess
import threading
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent
PEERS = REPOSITORY / "build" / "peers"
LOGS = REPOSITORY / "build" / "bench-logs"

MAIN = {"rows_u8_47mb", "rows_f32", "tokens", "overhead", "consumer_1ms"}
# (script, environment, rows it takes part in)
SCRIPTS = (
    ("numpy_limits.py", "native", {"rows_u8_47mb", "rows_u8_4700mb", "rows_f32", "tokens", "overhead"}),
    ("pytorch.py", "torch", MAIN | {"rows_u8_4700mb", "first_batch"}),
    ("mlx_data.py", "native", MAIN),
    ("ffcv_beton.py", "ffcv", MAIN | {"rows_u8_4700mb"}),
    ("spdl_threads.py", "native", MAIN | {"rows_u8_4700mb", "first_batch"}),
    ("dali_source.py", "dali", MAIN | {"rows_u8_4700mb", "first_batch"}),
    ("tf_data.py", "tf", MAIN | {"first_batch"}),
    ("grain_map.py", "grain", MAIN | {"first_batch"}),
    ("torch_photos.py", "torch", {"photos"}),
    ("native_photos.py", "native", {"photos"}),
    ("opencv_pass.py", "native", {"fused_pass"}),
    ("pillow_pass.py", "native", {"fused_pass"}),
    ("pillow_simd_pass.py", "pillow_simd", {"fused_pass"}),
    ("torchvision_pass.py", "torch", {"fused_pass"}),
    ("ffcv_photos.py", "ffcv", {"photos", "raw_photos"}),
    ("dali_photos.py", "dali", {"photos"}),
    ("tf_photos.py", "tf", {"photos"}),
    ("grain_photos.py", "grain", {"photos"}),
    ("streaming_photos.py", "streaming", {"photos"}),
    ("litdata_photos.py", "litdata", {"photos"}),
    ("tf_records.py", "tf", {"tfrecord"}),
    ("streaming_rows.py", "streaming", {"mds"}),
    ("litdata_rows.py", "litdata", {"litdata"}),
    ("audio_files.py", "audio", {"audio", "audio_mel"}),
    ("array_files.py", "tables", {"safetensors", "npz"}),
    ("megatron_documents.py", "megatron", {"megatron"}),
    ("memory_tables.py", "tables", {"arrow_memory"}),
    ("tables.py", "tables", {"arrow", "csv", "jsonl"}),
    ("pyarrow_parquet.py", "tables", {"parquet", "parquet_tokens", "parquet_images"}),
    ("ray_tables.py", "ray", {"parquet", "parquet_tokens", "parquet_images"}),
    ("lance_tables.py", "lance", {"parquet", "parquet_tokens", "parquet_images"}),
    ("petastorm_tables.py", "petastorm", {"parquet"}),
)
# Rows on files in a format of others, and the program that writes them.
STORED = {"tfrecord": "tf_records.py", "mds": "streaming_rows.py", "litdata": "litdata_rows.py", "arrow": "tables.py", "parquet": "pyarrow_parquet.py",
          "parquet_tokens": "pyarrow_parquet.py", "parquet_images": "pyarrow_parquet.py",
          "safetensors": "array_files.py", "npz": "array_files.py", "megatron": "megatron_documents.py", "audio": "audio_files.py", "audio_mel": "audio_files.py"}
# Rows of photographs: those of --photos, which Dataline's program finds.
PHOTO_ROWS = ("photos", "parquet_images", "raw_photos", "fused_pass", "slow_files", "photo_memory")
AUDIO_ROWS = ("audio", "audio_mel")
# The row of dataline_rows that makes what a stored one is written from, where it is not rows_u8_47mb.
BASES = {"megatron": "tokens", "parquet_tokens": "tokens", "parquet_images": "photos", "parquet": None, "audio": None, "audio_mel": None}
# Rows that others run and these do not, with the reason, which the results repeat.
LEFT_OUT = {
    ("rows_u8_4700mb", "mlx_data"): "holds the whole set as objects in memory: no room for it beside the mapped file",
    ("rows_u8_4700mb", "tf_data"): "holds the whole set as a tensor in memory: no room for it beside the mapped file",
    ("first_batch", "mlx_data"): "holds the whole set in memory: 7.8 GB at 1e7 rows",
    ("first_batch", "ffcv_beton"): "reads its own format only: there is no sparse file of it",
    ("first_batch", "libtorch"): "is not built for it: its sampler makes a whole permutation, as PyTorch's does",
}
LIBTORCH_ROWS = {"rows_u8_47mb", "rows_u8_4700mb", "rows_f32", "tokens"}


def without_paths(text):
    """A line for the results file: they travel, this machine's folders do not."""
    return text.replace(f"{REPOSITORY}/", "").replace(str(pathlib.Path.home()), "~")


class Failed(Exception):
    """A program ended or did not answer in time. The text names row, program, limit and its last line."""


class Program:
    def __init__(self, row, name, words):
        self.row, self.name, self.variants = row, name, []
        LOGS.mkdir(parents=True, exist_ok=True)
        self.log = LOGS / f"{row}-{name}.log"
        with open(self.log, "w") as file:
            # A session of its own: what it started can be ended with it.
            self.process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=file,
                                            text=True, bufsize=1, errors="replace", start_new_session=True)
        self.printed, self.lines = "", queue.Queue()
        # A thread, because a program may print half a line and then hang.
        self.reader = threading.Thread(target=self._read, daemon=True)
        self.reader.start()

    def _read(self):
        for line in self.process.stdout:
            self.lines.put(line)
        self.lines.put(None)

    def ready(self, limit_s):
        answer = self._answer("to get ready", limit_s)
        self.variants = answer["ready"]
        return answer

    def round(self, limit_s):
        try:
            self.process.stdin.write("round\n")
            self.process.stdin.flush()
        except OSError:
            pass  # it has ended: reading says how
        return self._answer("for a round", limit_s)

    def _answer(self, what, limit_s):
        end = time.monotonic() + limit_s
        while True:
            try:
                line = self.lines.get(timeout=max(0, end - time.monotonic()))
            except queue.Empty:
                raise self._failed(f"gave no answer in the {limit_s} s it had {what}") from None
            if line is None:
                raise self._failed(f"ended with {self._status()} instead of an answer (it had {limit_s} s {what})")
            try:
                if line.startswith("{"):
                    return json.loads(line)
            except json.JSONDecodeError:
                pass  # broken off by the program's end
            self.printed = line.strip() or self.printed

    def _status(self):
        try:
            status = self.process.wait(timeout=5)
        except subprocess.TimeoutExpired:
            return "its output closed"
        return f"status {status}" if status >= 0 else f"signal {signal.Signals(-status).name}"

    def _failed(self, what):
        told = [line for line in self.log.read_text(errors="replace").splitlines() if line.strip()]
        last = told[-1].strip() if told else self.printed
        return Failed(without_paths(f"{self.row}: {self.name} {what}; "
                                    + (f"its last line: {last[:300]}" if last else "it wrote nothing")))

    def end(self):
        try:
            self.process.stdin.close()
            self.process.wait(timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            pass
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()
        self.reader.join(timeout=5)
        if not self.reader.is_alive():
            self.process.stdout.close()


def why_missing(environment):
    """What setup.sh noted about a group that it could not install."""
    note = PEERS / environment / "failed"
    return without_paths(note.read_text().strip()) if note.exists() else f"{environment} is not installed"


def peer_command(script, environment, words):
    return [str(PEERS / environment / "bin" / "python"), "-W", "ignore", str(REPOSITORY / "bench" / "peers" / script), *words]


def common_words(row, asked):
    photos = ["--photos", asked.photos] if row in PHOTO_ROWS else []
    return [row, "--data", asked.data, "--seconds", str(asked.seconds_of(row)), *(["--small"] if asked.small else []), *photos]


def why_no_plugin(name, build, where=None):
    """Has a plug-in built, which dataline_rows finds by its variable: where that prints, or in the place that is said. Why it cannot
    be, or None."""
    variable = f"DATALINE_{name}_PLUGIN"
    if variable in os.environ:
        return None
    made = subprocess.run(build, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    if made.returncode != 0:
        return f"left out, for its plug-in was not built: {without_paths((made.stderr or made.stdout).strip()[-300:])}"
    os.environ[variable] = where or made.stdout.strip()
    return None


def why_not_stored(row, asked):
    """Has the files of a row written that others write. Why they cannot be, or None."""
    script = STORED[row]
    environment = next(environment for name, environment, _ in SCRIPTS if name == script)
    if not (PEERS / environment / "ready").exists():
        return f"left out, for {script} writes its files: {why_missing(environment)}"
    if row.startswith("parquet") and (why := why_no_plugin("PARQUET", [str(REPOSITORY / "plugins" / "parquet" / "build.sh")])):
        return why
    if row in AUDIO_ROWS and (why := why_no_plugin("AUDIO", ["cmake", "--build", str(asked.build), "--target", "dataline-audio"],
                                                   str(asked.build / "lib" / "libdataline-audio.so"))):
        return why
    base = BASES.get(row, "rows_u8_47mb")
    rows = [[str(asked.build / "bench" / "dataline_rows"), *common_words(base, asked)]] if base else []
    for words in (*rows, peer_command(script, environment, [*common_words(row, asked), "--make"])):
        made = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if made.returncode != 0:
            return f"left out, for its files were not written: {without_paths(made.stderr.strip()[-300:])}"
    return None


def programs(row, asked):
    """[(name, command)] of everything that takes part, and {name: why not} of what cannot."""
    common = common_words(row, asked)
    out, missing = [("dataline", [str(asked.build / "bench" / "dataline_rows"), *common])], {}
    libjpeg = asked.build / "bench" / "dataline_rows_libjpeg"
    if row == "photos" and libjpeg.exists():  # not built where our Huffman decoder is not
        out.append(("dataline_libjpeg", [str(libjpeg), "photos_libjpeg", *common[1:]]))
    if asked.no_peers:
        return out, missing
    missing.update({name: f"{row}: {name} {why}" for (at, name), why in LEFT_OUT.items() if at == row})
    libtorch = PEERS / "libtorch" / "libtorch_rows"
    if row in LIBTORCH_ROWS:
        if libtorch.exists():
            out.append(("libtorch", [str(libtorch), *common]))
        else:
            missing["libtorch"] = f"{row}: libtorch: {why_missing('libtorch')}"
    for script, environment, rows in SCRIPTS:
        name = script.removesuffix(".py")
        if row not in rows:
            continue
        if (PEERS / environment / "ready").exists():
            out.append((name, peer_command(script, environment, common)))
        else:
            missing[name] = f"{row}: {name}: {why_missing(environment)}"
    return out, missing
