-- RELEASE: frees a lease without storing a value.
--
-- KEYS       1 V, 2 L
-- ARGV       1 owner, 2 cool-down ms (0 for none), 3 grace ms, 4 channels (P plain, S sharded)
-- Reply      status (RELEASED, NOT_OWNER), now
-- Invariant  Only the owner's own lease. Epoch and seq stay for the grace, so that a fill under an
--            earlier lease of the epoch still counts. Never refused under OOM.

-- rules.lua

local owner, cool_down_millis, grace_millis, channels =
  ARGV[1], number(ARGV[2]), number(ARGV[3]), ARGV[4]

local record = lease(redis.pcall('GET', L))
if not owns(record, owner) then
  return answer('NOT_OWNER')
end
-- First, for it is never refused under OOM, and then what follows is not either.
write('PEXPIRE', L,
  plain(lasting(grace_millis > cool_down_millis and grace_millis or cool_down_millis)))
-- In place, so that the TTL stays.
write('SETRANGE', L, '0',
  record_of(NOBODY .. ' ' .. record.epoch .. ' ' .. decimal(record.seq, 10),
    decimal(now + cool_down_millis, 16), decimal(cool_down_millis, 16),
    decimal(record.hold_off, 16), '0'))
tell(record, channels)
return answer('RELEASED')
