-- LEASE_INSPECT: tells who holds a lease.
--
-- KEYS       1 L, 2 C
-- Reply      FREE or HELD, now, owner (empty if free), token, ms left (zeros without a TTL)
-- Invariant  Writes nothing.

local held = lease()
local ttl = read('PTTL', L)
if ttl == -2 then
  return {'FREE', decimal(now, 16), '', ZEROS, decimal(0, 16)}
end
return {'HELD', decimal(now, 16), held.owner, held.token, decimal(ttl < 0 and 0 or ttl, 16)}
