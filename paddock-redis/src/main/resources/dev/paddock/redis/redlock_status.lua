-- REDLOCK_STATUS: tells what a client has to know of this server before it counts its votes.
--
-- KEYS       1 and 3 E, 2 C
-- ARGV       1 fingerprint
-- Reply      standing (VOTING, AMNESIA, FOREIGN), now, run id, mode, maxmemory policy; the last two
--            empty where the server does not say
-- Invariant  Writes nothing.

local memory = read('INFO', 'memory')

-- What stands behind a name, up to the end of the line; empty if the name is not there.
local function told(text, name)
  local from, to = find(text, name, 1, true)
  local line_end = from and find(text, '\r', to, true)
  return line_end and sub(text, to + 1, line_end - 1) or ''
end

return {
  standing(ARGV[1]),
  decimal(now, 16),
  run,
  -- redis_mode, or server_mode as Valkey has it.
  told(server, '_mode:'),
  told(memory, 'maxmemory_policy:')
}
