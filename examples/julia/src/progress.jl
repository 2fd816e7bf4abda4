# Where an epoch is, as the shell draws it, on standard error if that is a terminal; nothing elsewhere:
#
#   epoch 2/5, step 211 of 469:  45%|████▌     | [00:01<00:02, 23.4 k samples/s, waited 0.3 %, loss=0.213]
#
# SPDX-License-Identifier: Apache-2.0

const REDRAW_NS = 100_000_000
const LEAST_BAR, MOST_BAR = 4, 40 # cells

can_rewrite_a_line() = stderr isa Base.TTY && get(ENV, "TERM", "") != "dumb"

mutable struct ProgressLine
    loader::Dataline.Loader
    label::String
    visible::Bool
    samples::Int # of the loader's statistics before
    wait_ns::Int
    began::UInt64
    drawn::UInt64
    step::Int
end

function ProgressLine(loader, label)
    before = Dataline.stats(loader)
    return ProgressLine(loader, label, can_rewrite_a_line(), before.samples, before.wait_ns, time_ns(), 0, 0)
end

# Counts a step and draws at most ten times a second. The remark stands at the end.
function update!(line, remark)
    line.step += 1
    line.visible && time_ns() - line.drawn >= REDRAW_NS && draw!(line, remark)
    return nothing
end

# Draws the last state and goes to the next line.
function finish!(line, remark)
    line.visible && line.step > 0 || return nothing
    draw!(line, remark)
    println(stderr)
    return nothing
end

function draw!(line, remark)
    line.drawn = time_ns()
    now, elapsed, steps = Dataline.stats(line.loader), (line.drawn - line.began) / 1e9, length(line.loader)
    items = [clock(elapsed) * "<" * clock(elapsed * (steps - line.step) / line.step),
             scaled((now.samples - line.samples) / elapsed) * " samples/s",
             @sprintf("waited %.1f %%", (now.wait_ns - line.wait_ns) / 1e7 / elapsed), remark]
    # The last column stays free: some terminals go to the next line when it is written.
    print(stderr, "\r\e[K", drawing(line.label, line.step, steps, items, displaysize(stderr)[2] - 1))
    return nothing
end

# At most so many columns wide: on a narrow terminal the bar goes first, then what stands last.
function drawing(label, step, steps, items, columns)
    done = min(1.0, step / max(1, steps))
    head = @sprintf("%s, step %d of %d: %3d%%", label, step, steps, floor(Int, 100 * done))
    tail(shown) = shown == 0 ? "" : " [" * join(items[1:shown], ", ") * "]"
    shown = length(items)
    while shown > 0 && length(head) + length(tail(shown)) > columns
        shown -= 1
    end
    cells = min(MOST_BAR, columns - length(head) - length(tail(shown)) - 2)
    shown == length(items) && cells >= LEAST_BAR && return head * "|" * bar(done, cells) * "|" * tail(shown)
    return first(head * tail(shown), max(0, columns))
end

# So many characters, of which the last filled one is filled by eighths.
function bar(done, cells)
    eighths = floor(Int, done * cells * 8)
    return rpad("█"^(eighths ÷ 8) * ("", "▏", "▎", "▍", "▌", "▋", "▊", "▉")[eighths%8+1], cells)
end

# Hours only when there are some.
function clock(seconds)
    whole = round(Int, seconds)
    minutes = @sprintf("%02d:%02d", whole ÷ 60 % 60, whole % 60)
    return whole >= 3600 ? string(whole ÷ 3600, ":", minutes) : minutes
end

# 834, 12.3 k or 6.91 M.
function scaled(value)
    unit = 1
    while value >= 999.5 && unit < 4
        value /= 1000
        unit += 1
    end
    text = value >= 100 ? @sprintf("%.0f", value) : value >= 10 ? @sprintf("%.1f", value) : @sprintf("%.2f", value)
    return text * ("", " k", " M", " G")[unit]
end
