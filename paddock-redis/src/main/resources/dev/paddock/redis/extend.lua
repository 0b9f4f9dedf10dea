-- EXTEND: lets a lease last its full length from now.
--
-- KEYS       1 V, 2 L
-- ARGV       1 owner, 2 epoch, 3 lease ms, 4 grace ms
-- Reply      status (EXTENDED, LOST, INVALIDATED), now
-- Invariant  Only the owner's own lease; never shortened, never made anew. Never refused under OOM.

local owner, epoch, lease_millis, grace_millis = ARGV[1], ARGV[2], number(ARGV[3]), number(ARGV[4])

local function answer(status)
  return {status, decimal(now, 16)}
end

local record = lease()
if record.epoch ~= epoch then
  return answer('INVALIDATED')
end
if not owns(record, owner) then
  return answer('LOST')
end
keep(grace_millis)
if not (record.live and record.left > lease_millis) then
  write('HSET', L, 'd', decimal(now + lease_millis, 16), 'w', decimal(lease_millis, 16))
end
return answer('EXTENDED')
