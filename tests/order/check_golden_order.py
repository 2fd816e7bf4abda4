"""The golden orders, computed a second time from their definitions, in plain Python integers and floats.

  check_golden_order.py golden_order.json golden_buckets.json golden_mixes.json

It is also the shortest complete description of the order for whoever ports it. Digests of shuffles above
65,535 samples are left to the C++ test: they would take minutes here.

SPDX-License-Identifier: Apache-2.0
"""

import json
import math
import struct
import sys

MASK64 = (1 << 64) - 1
MASK32 = (1 << 32) - 1
GOLDEN = 0x9E3779B97F4A7C15
PERMUTATION, FISHER_YATES, WEIGHTED, BUCKETS, BLOCKS, WINDOW = 1, 2, 3, 9, 10, 11  # core/base/random.h, Domain
MIX_PERIOD, MIX_PART, MIX_REPEAT, MIX_STEPS, MIX_BLOCKS = 16, 17, 18, 19, 20


def mix64(x):
    x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & MASK64
    x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & MASK64
    return x ^ (x >> 31)


def mix32(x):
    x = ((x ^ (x >> 16)) * 0x21F0AAAD) & MASK32
    x = ((x ^ (x >> 15)) * 0xD35A2D97) & MASK32
    return x ^ (x >> 15)


def random_key(seed, epoch, domain):
    key = mix64((seed + GOLDEN) & MASK64)
    key = mix64(key ^ ((epoch * GOLDEN + 0x632BE59BD9B4E019) & MASK64))
    return mix64(key ^ ((domain * GOLDEN + 0x2545F4914F6CDD1D) & MASK64))


def random_bits(key, a, b=0):
    inner = mix64(key ^ ((a * GOLDEN + 0xD1B54A32D192ED03) & MASK64))
    return mix64((inner + b * GOLDEN) & MASK64)


def splitmix(key, i):
    return mix64((key + (i + 1) * GOLDEN) & MASK64)


def fisher_yates(n, seed, epoch):
    key = random_bits(random_key(seed, epoch, FISHER_YATES), n)
    entries = list(range(n))
    for i in range(n - 1):
        bound = n - i
        bits = splitmix(key, i // 2) >> (32 * (i % 2)) & MASK32
        attempt = 0
        while bits * bound & MASK32 < (1 << 32) % bound:
            attempt += 1
            bits = random_bits(key, i, attempt) & MASK32
        j = i + (bits * bound >> 32)
        entries[i], entries[j] = entries[j], entries[i]
    return entries


def bijection(n, key, slot):
    bits = (n - 1).bit_length()
    right_bits = bits - bits // 2
    left_mask, right_mask = (1 << bits // 2) - 1, (1 << right_bits) - 1
    words = [splitmix(key, i) for i in range(4)]
    value = slot
    while True:
        left, right = value >> right_bits, value & right_mask
        for word in words:
            left ^= mix32(right ^ (word & MASK32)) & left_mask
            right ^= mix32(left ^ (word >> 32)) & right_mask
        value = left << right_bits | right
        if value < n:
            return value


def permute(n, key, slot):
    if n > 64:
        return bijection(n, key, slot)
    entries = list(range(n))
    for i in range(slot + 1):
        j = i + (splitmix(key, i) * (n - i) >> 64)
        entries[i], entries[j] = entries[j], entries[i]
    return entries[slot]


def window_geometry(n, blocks, open_blocks, step_slots):
    lane_slots = min(max(n // blocks // 512, 1), 16)
    lanes = min(open_blocks, -(-min(step_slots, n) // lane_slots))
    wanted = max(n * min(open_blocks, blocks) // (blocks * lanes), 1)
    window = 1
    while window * 2 <= wanted:
        window *= 2
    return lanes, window * 2 if 2 * wanted >= 3 * window and window > 1 else window


def window_shuffle(ends, open_blocks, step_slots, seed, epoch):
    blocks = [list(range(begin, end)) for begin, end in zip([0, *ends], ends)]
    return blocks_shuffle(blocks, open_blocks, step_slots, seed, epoch)


def blocks_shuffle(blocks, open_blocks, step_slots, seed, epoch):
    """The epoch, lane by lane: each lane's samples in its own order, then dealt to the steps."""
    n = sum(map(len, blocks))
    lanes, window = window_geometry(n, len(blocks), open_blocks, step_slots)
    line = []
    for i in range(len(blocks)):
        line += blocks[permute(len(blocks), random_bits(random_key(seed, epoch, BLOCKS), len(blocks)), i)]
    steps, last = divmod(n, step_slots)
    dealt = []
    for c in range(lanes):
        low, high = (steps * (step_slots * x // lanes) + last * x // lanes for x in (c, c + 1))
        borders = [low, *range(low + window - c * window // lanes, high, window), high]
        samples = []
        for w, (begin, end) in enumerate(zip(borders, borders[1:])):
            key = random_bits(random_key(seed, epoch, WINDOW), c, w)
            samples += [line[begin + permute(end - begin, key, i)] for i in range(end - begin)]
        dealt.append(iter(samples))
    order = []
    while len(order) < n:
        slots = min(step_slots, n - len(order))
        for c in range(lanes):
            order += [next(dealt[c]) for _ in range(slots * (c + 1) // lanes - slots * c // lanes)]
    return order


def alias_columns(weights):
    """Columns (keep, alias) by the sweep of core/order/alias.cpp, step by step in the same doubles."""
    n = len(weights)
    largest = max(weights)
    total = 0.0
    for weight in weights:
        total += weight / largest
    shares = [weight / largest * (n / total) for weight in weights]
    columns = [None] * n
    lights = (i for i in range(n) if not shares[i] > 1.0)
    heavies = (i for i in range(n) if shares[i] > 1.0)

    def height(share):
        return MASK64 if share >= 1.0 else int(share * 2.0**64)

    light, heavy = next(lights, None), next(heavies, None)
    rest = shares[heavy] if heavy is not None else 0.0
    while heavy is not None:
        if rest > 1.0:
            if light is None:
                break
            columns[light] = (height(shares[light]), heavy)
            rest = (rest + shares[light]) - 1.0
            light = next(lights, None)
        else:
            following = next(heavies, None)
            if following is None:
                break
            columns[heavy] = (height(rest), following)
            rest = (rest + shares[following]) - 1.0
            heavy = following
    for i in [heavy, *heavies]:
        if i is not None:
            columns[i] = (MASK64, i)
    for i in [light, *lights]:
        if i is not None:
            columns[i] = (height(shares[i]), weights.index(largest))
    return columns


def draw_with_replacement(weights, seed, epoch, slots):
    key = random_key(seed, epoch, WEIGHTED)
    columns = alias_columns(weights)
    for slot in range(slots):
        product = random_bits(key, slot) * len(weights)
        keep, alias = columns[product >> 64]
        yield product >> 64 if product & MASK64 < keep else alias


def twice_atanh(s):
    square = s * s
    total = 0.0
    for power in range(23, 2, -2):
        total = total * square + 1.0 / power
    return 2.0 * (s + s * (total * square))


def parts(value):
    fraction, exponent = math.frexp(value)
    return fraction * 2.0, exponent - 1


def exponential(bits):
    odd = bits | 1
    if odd < 1 << 63:
        u = float(odd) * 2.0**-64
        if u < float.fromhex("0x1.2bec333018866p-2"):
            return twice_atanh(u / (2.0 - u))
        complement = 1.0 - u
    else:
        complement = float((1 << 64) - odd) * 2.0**-64
    fraction, exponent = parts(complement)
    if fraction > float.fromhex("0x1.6a09e667f3bcdp+0"):
        fraction, exponent = fraction * 0.5, exponent + 1
    s = (1.0 - fraction) / (1.0 + fraction)
    return float(-exponent) * float.fromhex("0x1.62e42fefa39efp-1") + twice_atanh(s)


def race_key(time, weight):
    time_fraction, time_exponent = parts(time)
    weight_fraction, weight_exponent = parts(weight)
    quotient, = struct.unpack("<Q", struct.pack("<d", time_fraction / weight_fraction))
    return quotient + (time_exponent - weight_exponent + 1100 << 52)


def draw_without_replacement(weights, seed, epoch, slots):
    key = random_key(seed, epoch, WEIGHTED)
    key_bits = min(44, 64 - max(1, (len(weights) - 1).bit_length()))
    finish = [(race_key(exponential(random_bits(key, i)), weight) >> (64 - key_bits), i)
              for i, weight in enumerate(weights) if weight > 0]
    return [i for _, i in sorted(finish)[:slots]]


def bucket_steps(lengths, edges, rows, seed, epoch):
    """Batches by length: core/order/buckets.h."""
    def permuted(n, what):
        part = random_bits(random_key(seed, 0, BUCKETS), what)
        key = random_bits(random_key(part, epoch, PERMUTATION), n)
        return list(range(n)) if n < 2 else [bijection(n, key, slot) for slot in range(n)]

    pieces = []
    for bucket, edge in enumerate(edges):
        below = edges[bucket - 1] if bucket > 0 else -1
        samples = [i for i, length in enumerate(lengths) if below < length <= edge]
        order = [samples[at] for at in permuted(len(samples), 1 + bucket)]
        pieces += [order[begin:begin + rows[bucket]] for begin in range(0, len(order), rows[bucket])]
    return [pieces[at] for at in permuted(len(pieces), 0)]


def place(n, seed, epoch, slot):
    return slot if n < 2 else bijection(n, random_bits(random_key(seed, epoch, PERMUTATION), n), slot)


def shares_of(weights):
    """Of each part, in units of 2^-60."""
    total = 0.0
    for weight in weights:
        total += weight / max(weights)
    shares = [int(weight / max(weights) / total * 2**60) for weight in weights]
    shares[weights.index(max(weights))] += 2**60 - sum(shares)
    return shares


def parts_of_units(stages, seed, bits):
    """The part of each unit of the job, by weights; stages: first unit and weights."""
    key, unit = random_key(seed, 0, MIX_PERIOD), 0
    for number, (_, weights) in enumerate(stages):
        stop = stages[number + 1][0] if number + 1 < len(stages) else math.inf
        ends, period = [], 0
        for share in shares_of(weights):
            ends.append(share + (ends[-1] if ends else 0))
        while unit < stop:
            units = int(min(2**bits, stop - unit))
            reverse = int(f"{period % 2**(60 - bits):0{60 - bits}b}"[::-1], 2)
            upto = [((end * units >> bits) + reverse) >> 60 - bits for end in ends]
            for i in range(units):
                point = place(units, key, unit, i)
                yield sum(end <= point for end in upto)
            unit, period = unit + units, period + 1


def weighted_windows(golden, cuts):
    """An epoch of a mix by weights: each pass through a part is a window order of its own blocks."""
    rows, starts = golden["step_slots"], [sum(cut[-1] for cut in cuts[:k]) for k in range(len(cuts))]
    epoch_slots, unit = golden["samples_per_epoch"], rows if golden["homogeneous"] else 1
    steps = -(-epoch_slots // rows)
    stages = [(step if golden["homogeneous"] else step // steps * epoch_slots + step % steps * rows, weights)
              for step, weights in golden["stages"]]
    largest = [max(shares) for shares in zip(*(shares_of(weights) for _, weights in stages))]
    begin = golden["epoch"] * epoch_slots
    drawn, order, passes, slot = [0] * len(cuts), [], {}, 0
    for part in parts_of_units(stages, golden["seed"], 8 if golden["homogeneous"] else 10):
        for _ in range(unit):
            if slot >= begin:
                number, at = divmod(drawn[part], cuts[part][-1])
                if (part, number) not in passes:
                    passes[part, number] = part_pass(golden, cuts[part], part, number, unit, largest[part])
                order.append(starts[part] + passes[part, number][at])
            slot, drawn[part] = slot + 1, drawn[part] + 1
        if len(order) == epoch_slots:
            return order
    return order


def part_pass(golden, cut, part, number, unit, share):
    seed = random_bits(random_key(golden["seed"], 0, MIX_PART), part)
    opened = max(golden["open_blocks"] * share >> 60, 1)
    if opened >= len(cut):
        return [place(cut[-1], seed, number, i) for i in range(cut[-1])]
    return window_shuffle(cut, opened, unit, seed, number)


def repeated_windows(golden, cuts):
    """An epoch of a mix by repeats: all blocks, each as often as its part comes, in one window order."""
    seed, epoch = golden["seed"], golden["epoch"]
    blocks, start, first_block = [], 0, 0
    for part, (cut, repeat) in enumerate(zip(cuts, golden["repeats"])):
        n = cut[-1]
        more = min(math.floor((repeat - math.floor(repeat)) * n + 0.5), n)
        whole = [list(range(start + begin, start + end)) for begin, end in zip([0, *cut], cut)]
        blocks += whole * (math.floor(repeat) + more // n)
        offset = random_bits(random_key(seed, epoch, MIX_REPEAT), part) * n >> 64
        for i, samples in enumerate(whole if more % n else []):
            begin = samples[0] - start
            chosen = ((begin + len(samples)) * more + offset) // n - (begin * more + offset) // n
            key = random_bits(random_key(seed, epoch, MIX_BLOCKS), first_block + i)
            blocks.append(samples if chosen == len(samples) else
                          [samples[permute(len(samples), key, j)] for j in range(chosen)])
        start, first_block = start + n, first_block + len(cut)
    return blocks_shuffle(blocks, golden["open_blocks"], golden["step_slots"], seed, epoch)


def stepped_repeats(counts, repeats, rows, seed, epoch):
    """The steps of an epoch by repeats with homogeneous=batch and shuffle=full."""
    def permuted(n, what):
        return [place(n, random_bits(random_key(seed, 0, MIX_STEPS), what), epoch, i) for i in range(n)]

    pieces, start = [], 0
    for part, (n, repeat) in enumerate(zip(counts, repeats)):
        more = min(math.floor((repeat - math.floor(repeat)) * n + 0.5), n)
        once_more = [place(n, random_bits(random_key(seed, 0, MIX_PART), part), epoch, i) for i in range(more)]
        places = list(range(n)) * math.floor(repeat) + (list(range(n)) if more == n else once_more)
        samples = [start + places[at] for at in permuted(len(places), 1 + part)]
        pieces += [samples[begin:begin + rows] for begin in range(0, len(samples), rows)]
        start += n
    return [pieces[at] for at in permuted(len(pieces), 0)]


def uneven_ends(blocks, spread):
    ends = []
    for i in range(blocks):
        ends.append((ends[-1] if ends else 0) + 1 + i * 7919 % spread)
    return ends


def digest(samples):
    value = 0
    for sample in samples:
        value = (value * 6364136223846793005 + sample + 1) & MASK64
    return f"{value:x}"


def check_shuffle(golden):
    n, seed, epoch = golden["n"], golden["seed"], golden["epoch"]
    if n < 65536:
        order = fisher_yates(n, seed, epoch)
        assert digest(order) == golden["digest"], golden
        slot = order.__getitem__
    else:
        def slot(i):
            return bijection(n, random_bits(random_key(seed, epoch, PERMUTATION), n), i)
    for begin, samples in ((0, golden["first"]), (n // 2, golden["middle"])):
        assert [slot(begin + i) for i in range(len(samples))] == samples, golden


def check_window(golden):
    ends = uneven_ends(golden["blocks"], golden["spread"])
    order = window_shuffle(ends, golden["open_blocks"], golden["step_slots"], golden["seed"], golden["epoch"])
    assert sorted(order) == list(range(ends[-1])), golden
    assert order[:len(golden["first"])] == golden["first"], golden
    assert digest(order) == golden["digest"], golden


def check_buckets(golden):
    lengths = [i * 7 % 17 for i in range(golden["n"])]
    steps = bucket_steps(lengths, golden["edges"], golden["rows"], golden["seed"], golden["epoch"])
    assert steps == golden["steps"], golden


def check_weighted(golden):
    weights = golden["weights"] or [i * 7919 % 1000 / 8.0 for i in range(1000)]
    draw = draw_with_replacement if golden["replacement"] else draw_without_replacement
    order = list(draw(weights, golden["seed"], golden["epoch"], golden["samples_per_epoch"]))
    assert order[:len(golden["first"])] == golden["first"], golden
    assert digest(order) == golden["digest"], golden


def check_mix_windows(golden):
    cuts = [uneven_ends(*part) for part in golden["parts"]]
    order = (repeated_windows if golden["repeats"] else weighted_windows)(golden, cuts)
    assert order[:len(golden["first"])] == golden["first"], golden
    assert digest(order) == golden["digest"], golden


def check_mix_steps(golden):
    steps = stepped_repeats(*(golden[key] for key in ("counts", "repeats", "rows", "seed", "epoch")))
    assert steps == golden["steps"], golden


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        goldens = json.load(file)
    for golden in goldens["shuffle_full"]:
        check_shuffle(golden)
    for golden in goldens["shuffle_window"]:
        check_window(golden)
    for golden in goldens["weighted"]:
        check_weighted(golden)
    with open(sys.argv[2], encoding="utf-8") as file:
        buckets = json.load(file)
    for golden in buckets:
        check_buckets(golden)
    with open(sys.argv[3], encoding="utf-8") as file:
        mixes = json.load(file)
    for golden in mixes["windows"]:
        check_mix_windows(golden)
    for golden in mixes["steps"]:
        check_mix_steps(golden)
    print(
        f"{len(goldens['shuffle_full'])} shuffles, {len(goldens['shuffle_window'])} in windows, {len(goldens['weighted'])} weighted orders, "
        f"{len(buckets)} of buckets and {len(mixes['windows'])} + {len(mixes['steps'])} of mixes agree"
    )


if __name__ == "__main__":
    main()
