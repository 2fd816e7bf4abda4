# Nothing grows: 10,000 batches and 200 loaders, then resident memory, threads and open files as before. Alone in its
# process, so that nothing else moves the numbers.
#
# SPDX-License-Identifier: Apache-2.0
using Dataline

function usage()
    foreach(_ -> (GC.gc(); yield()), 1:4)
    status = read("/proc/self/status", String)
    number(key) = parse(Int, match(Regex("$key:\\s+(\\d+)"), status)[1])
    return (resident_kib = number("VmRSS"), threads = number("Threads"), files = length(readdir("/proc/self/fd")),
        loans = length(Dataline.LOANS))
end

# A loader on a file, on lent arrays, on a part of them, and on a reader, each taken a little way and left in the middle;
# every other one is left to the collector.
function a_life(uri, rows, n)
    reader = Dataline.Reader(i -> i % 16 == 3 ? error("bad on purpose") : (x = fill(UInt8(i), 1024),), 64; x = (UInt8, 1024))
    lent = Dataline.Dataset((x = rows,))
    for (k, source) in enumerate((uri, lent, Dataline.subset(lent, [1, 2, 3]), reader))
        settings = (batch_size = 64, shuffle = true, num_workers = source === reader ? 0 : 1)
        loader = Dataline.Loader(source; settings...)
        try
            foreach(batch -> keep(batch)[1], Iterators.take(loader, 2))
            Dataline.next!(loader; timeout = 0)
        catch problem
            problem.code == Dataline.ERR_BAD_SAMPLE || rethrow()
        end
        Dataline.save_state(loader)
        for fails in (() -> Dataline.load_state!(loader, "nonsense"), () -> Dataline.Loader(lent; transform = "nonsense"))
            try
                fails()
            catch
            end
        end
        (n + k) % 2 == 0 && close(loader)
    end
end

function take(loader, epochs)
    count = 0
    for _ in 1:epochs, (x,) in loader
        count += 1
    end
    return count
end

function main()
    path, io = mktemp()
    write(io, ones(UInt8, 784_000))
    close(io)
    uri = "raw:$path?dtype=u8&shape=784"
    rows = fill(0x07, 784, 1000)
    loader = Dataline.Loader(uri; batch_size = 10, shuffle = true, num_workers = 1)
    lives(count) = foreach(n -> (a_life(uri, rows, n); n % 10 == 0 && usage()), 1:count)
    take(loader, 10)
    lives(50)
    before = usage()
    take(loader, 100) == 10_000 || error("expected 10,000 batches")
    lives(50) # four loaders each
    after = usage()
    flat = after.threads == before.threads && after.files == before.files && after.loans == before.loans &&
        after.resident_kib < before.resident_kib + 8192 # of Julia's own heap, which is not returned at once
    println(flat ? "flat" : "grew", ": ", before, " ", after)
end

main()
