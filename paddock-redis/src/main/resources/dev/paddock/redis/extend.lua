-- EXTEND: lets a lease last its full length from now.
--
-- KEYS       1 V, 2 L
-- ARGV       1 owner, 2 epoch, 3 lease ms, 4 grace ms
-- Reply      status (EXTENDED, LOST, INVALIDATED), now
-- Invariant  Only the owner's own lease; never shortened, never made anew. Never refused under OOM.

-- rules.lua

local owner, epoch, lease_millis, grace_millis = ARGV[1], ARGV[2], number(ARGV[3]), number(ARGV[4])

local record = lease(redis.pcall('GET', L))
if epoch == NO_EPOCH or record.epoch ~= epoch then
  return answer('INVALIDATED')
end
if not owns(record, owner) then
  return answer('LOST')
end
-- First, for it is never refused under OOM, and then what follows is not either.
write('PEXPIRE', L, plain(lasting(grace_millis)))
if not (record.live and record.left > lease_millis) then
  write('SETRANGE', L, '61', decimal(now + lease_millis, 16) .. ' ' .. decimal(lease_millis, 16))
end
return answer('EXTENDED')
