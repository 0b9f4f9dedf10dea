-- RELEASE: frees a lease without storing a value.
--
-- KEYS       1 V, 2 L
-- ARGV       1 owner, 2 cool-down ms (0 for none), 3 grace ms, 4 channels (P plain, S sharded)
-- Reply      status (RELEASED, NOT_OWNER), now
-- Invariant  Only the owner's own lease. Epoch and seq stay for the grace, so that a fill under an
--            earlier lease of the epoch still counts. Never refused under OOM.

local owner, cool_down_millis, grace_millis, channels =
  ARGV[1], number(ARGV[2]), number(ARGV[3]), ARGV[4]

local function answer(status)
  return {status, decimal(now, 16)}
end

local record = lease()
if not owns(record, owner) then
  return answer('NOT_OWNER')
end
keep(grace_millis > cool_down_millis and grace_millis or cool_down_millis)
write('HSET', L, 'o', '', 'd', decimal(now + cool_down_millis, 16),
  'w', decimal(cool_down_millis, 16), 'q', '', 'g', '')
tell(record, channels)
return answer('RELEASED')
