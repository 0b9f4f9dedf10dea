-- REDLOCK_INSPECT: tells who holds a lease on this server, and whether it may vote.
--
-- KEYS       1 L, 2 C, 3 E
-- ARGV       1 fingerprint
-- Reply      FREE or HELD, now, owner (empty if free), token, ms left (zeros without a TTL),
--            standing (VOTING, AMNESIA, FOREIGN)
-- Invariant  Writes nothing.

local may = standing(ARGV[1])
local held = lease()
local ttl = read('PTTL', L)
if ttl == -2 then
  return {'FREE', decimal(now, 16), '', ZEROS, decimal(0, 16), may}
end
return {
  'HELD', decimal(now, 16), held.owner, held.token, decimal(ttl < 0 and 0 or ttl, 16), may
}
