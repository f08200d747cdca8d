-- wrk's side of the benchmark: signed deliveries from a file, each with an id of its own, at a given pace or as fast as
-- they are answered. Lines of the file: the signature, a space, the body.

local bodies, signatures, at, pause = {}, {}, 0, 0

function setup(thread)
  thread:set("seed", os.time())
end

function init(args)
  math.randomseed(seed)
  pause = tonumber(args[2] or "0")
  for line in io.lines(args[1]) do
    local signature, body = line:match("^(%S+) (.*)$")
    signatures[#signatures + 1] = signature
    bodies[#bodies + 1] = body
  end
end

local function hex(count)
  local text = {}
  for place = 1, count do text[place] = string.format("%x", math.random(0, 15)) end
  return table.concat(text)
end

function request()
  at = at % #bodies + 1
  return wrk.format("POST", "/webhook", {
    ["Content-Type"] = "application/json",
    ["X-GitHub-Event"] = "issue_comment",
    ["X-GitHub-Delivery"] = hex(8) .. "-" .. hex(4) .. "-" .. hex(4) .. "-" .. hex(4) .. "-" .. hex(12),
    ["X-Hub-Signature-256"] = signatures[at],
  }, bodies[at])
end

-- Between nothing and twice the pause, so that deliveries do not come in step.
function delay()
  return pause > 0 and math.random(0, 2 * pause) or 0
end

function done(summary, latency)
  io.write(string.format(
    '{"requests":%d,"seconds":%.6f,"p50":%.3f,"p99":%.3f,"most":%.3f,"refused":%d,"broken":%d}\n',
    summary.requests, summary.duration / 1e6, latency:percentile(50) / 1e3, latency:percentile(99) / 1e3,
    latency.max / 1e3, summary.errors.status,
    summary.errors.connect + summary.errors.read + summary.errors.write + summary.errors.timeout))
end
