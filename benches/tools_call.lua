-- One small tools/call after the other; with more than one session, each connection has its own.
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.headers["MCP-Protocol-Version"] = "2025-06-18"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"msg":"hello"}}}'

local sessions, turn = 1, 0
function init(args)
  sessions = tonumber(args[1] or "1")
end
function request()
  turn = turn % sessions + 1
  wrk.headers["Mcp-Session-Id"] = "session-" .. turn
  return wrk.format()
end
