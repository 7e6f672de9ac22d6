-- wrk sends the lines of a file, each once, as bodies of POST requests: wrk -s documents.lua URL -- FILE THREADS
-- At the end a line of JSON with what wrk measured; latencies are in microseconds.

local all = {}

function setup(thread)
  thread:set("number", #all)
  all[#all + 1] = thread
end

function init(args)
  local threads, n = tonumber(args[2]), 0
  lines, asked = {}, 0
  for line in io.lines(args[1]) do
    if n % threads == number then lines[#lines + 1] = line end
    n = n + 1
  end
  wrk.headers["Content-Type"] = "application/json"
end

function request()
  asked = asked + 1
  return wrk.format("POST", nil, nil, lines[(asked - 1) % #lines + 1])
end

function done(summary, latency, requests)
  local asked = 0
  for _, thread in ipairs(all) do asked = asked + thread:get("asked") end
  local e = summary.errors
  print(string.format(
    '{"requests": %d, "seconds": %f, "asked": %d, "refused": %d, "broken": %d, "p50": %f, "p99": %f, "worst": %f}',
    summary.requests, summary.duration / 1e6, asked, e.status, e.connect + e.read + e.write + e.timeout,
    latency:percentile(50), latency:percentile(99), latency.max))
end
