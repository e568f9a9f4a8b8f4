-- Cycles through the requests in a file. In the file, each request follows its length in bytes.
local requests = {}
local sent = 0

function init(args)
  local file = assert(io.open(args[1], "rb"))
  local bytes = file:read("*n")
  while bytes do
    file:read(1)
    requests[#requests + 1] = file:read(bytes)
    bytes = file:read("*n")
  end
  file:close()
end

function request()
  sent = sent + 1
  return requests[(sent - 1) % #requests + 1]
end

function done(summary, latency)
  local errors = summary.errors
  io.write(string.format(
    '\nSUMMARY {"requests":%d,"elapsedMicros":%d,"refused":%d,"broken":%d,"p50Micros":%d,"p99Micros":%d}\n',
    summary.requests, summary.duration, errors.status,
    errors.connect + errors.read + errors.write + errors.timeout,
    latency:percentile(50), latency:percentile(99)))
end
