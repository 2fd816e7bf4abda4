# What a loader measures, and traces.
#
# SPDX-License-Identifier: Apache-2.0

row_of(metrics, name, part = "") =
    only(row for row in Dataline.rows(metrics) if row.name == name && row.part == part && row.thread == :all)

@testset "rows outlive the loader and tell its last numbers" begin
    loader = Dataline.Loader((x = collect(1:1000),); batchsize = 10, num_workers = 1, stats = "full")
    metrics = Dataline.metrics(loader)
    @test row_of(metrics, "batches").value == 0
    @test count(_ -> true, loader) == 100
    close(loader)
    batches = row_of(metrics, "batches")
    @test (batches.value, batches.kind, batches.unit) == (100, :counter, "batches")
    @test row_of(metrics, "work", "x: copy").value > 0
    threads = Set(row.thread for row in Dataline.rows(metrics) if row.name == "work")
    @test threads == Set([:all, :consumer, 0])
    @test length(Dataline.stalls(metrics)) <= 64
    @test occursin(r"^Dataline.Metrics of \d+ rows$", string(metrics))
    @test code_of(() -> Dataline.metrics(loader)) == Dataline.ERR_WRONG_STATE
end

@testset "labels may be any text, and their names are checked" begin
    loader = Dataline.Loader([1, 2, 3])
    metrics = Dataline.metrics(loader)
    text = Dataline.metrics_text(metrics; job = "a \"b\" \\ \n c", rank = 3)
    @test occursin("dataline_batches_total{job=\"a \\\"b\\\" \\\\ \\n c\",rank=\"3\"} 0\n", text)
    @test occursin("\ndataline_batches_total 0\n", Dataline.metrics_text(metrics))
    @test code_of(() -> Dataline.metrics_text(metrics; stage = 1)) == Dataline.ERR_INVALID_ARGUMENT
    @test_throws ArgumentError Dataline.metrics_text(metrics; Symbol("a=\"x\",b") => 1)
    close(loader)
end

@testset "a trace is a file of its block" begin
    loader = Dataline.Loader((x = collect(1:1000),); batchsize = 10, num_workers = 1)
    path = tempname()
    Dataline.trace(loader, path) do
        foreach(identity, loader)
        @test code_of(() -> Dataline.trace_start(loader, path)) == Dataline.ERR_WRONG_STATE
    end
    trace = read(path, String)
    @test startswith(trace, "{\"displayTimeUnit\"") && endswith(trace, "]}\n")
    foreach(identity, loader)
    @test read(path, String) == trace
    @test code_of(() -> Dataline.trace_start(loader, "/dev/full")) == Dataline.ERR_NOT_A_FILE
    @test code_of(() -> Dataline.trace_start(loader, tempname() * "/none")) == Dataline.ERR_NOT_FOUND
    Dataline.trace_stop(loader)
    close(loader)
end

@testset "tuned is what the library reports" begin
    loader = Dataline.Loader(collect(1:1000); batchsize = 10, num_workers = 3, prefetch_depth = 2)
    tuned = Dataline.tuned(loader)
    @test (tuned.mode, tuned.num_workers, tuned.most_workers, tuned.prefetch_depth) == (:off, 3, 3, 2)
    @test (tuned.changes, tuned.frozen, tuned.text) == (0, true, "not tuned: num_workers is set")
    @test count(_ -> true, loader) == 100
    watched = Dataline.tuned(Dataline.Loader(collect(1:10); num_workers = 1, tune = "watch"))
    @test (watched.mode, watched.frozen, watched.wait_share) == (:watch, false, 0.0)
end
