-- RAISE_BARRIER: raises a barrier: values whose loads began no later are outdated.
--
-- KEYS       1 V, where the barrier is stored, 2 L, not used
-- ARGV       1 how far ahead of now (ms), 2 TTL ms, 3 channel of changes, 4 the barrier's label
-- Reply      status (RAISED), now, the barrier (server ms)
-- Invariant  A barrier only rises, and never lasts shorter than before. It is stored as a negative
--            entry whose load start is the barrier, so it is read as values are.

-- rules.lua

local ahead, ttl_millis, changes, label = number(ARGV[1]), number(ARGV[2]), ARGV[3], ARGV[4]

local barrier = now + ahead
local v = stored()
if v then
  local before = number(sub(v.identity, 18, 33))
  if before and before > barrier then
    barrier = before
  end
end
local left = redis.pcall('PTTL', V)
if type(left) == 'number' and left > ttl_millis then
  ttl_millis = left
end
local millis = decimal(barrier, 16)
write('SET', V, 'PDK1 0099 N--- ' .. millis .. ' ' .. millis .. ' 0000000000 ' .. NO_EPOCH .. ' '
  .. NO_SEQ .. ' 0000000000\n', 'PX', plain(ttl_millis))
redis.pcall('PUBLISH', changes, 'B' .. millis .. label)
return answer('RAISED') .. ' ' .. millis
