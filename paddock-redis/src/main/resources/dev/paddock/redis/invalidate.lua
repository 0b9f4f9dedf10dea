-- INVALIDATE: removes the value, or makes it stale; loads in flight will not store theirs.
--
-- KEYS       1 V, 2 L
-- ARGV       1 mode (HARD removes, SOFT makes stale), 2 hold-off ms (0 for none), 3 channels (P
--            plain, S sharded), 4 channel of changes, or empty
-- Reply      status (DONE), now
-- Invariant  After it no fill of an earlier grant is stored. Of two hold-offs the later stays. Never
--            refused under OOM.

-- rules.lua

local mode, hold_off_millis, channels, changes = ARGV[1], number(ARGV[2]), ARGV[3], ARGV[4]

local record = lease(redis.pcall('GET', L))
local v = nil
if mode == 'SOFT' then
  v = stored()
end
local hold_off = record.hold_off
if hold_off_millis > 0 and hold_off < now + hold_off_millis then
  hold_off = now + hold_off_millis
end

-- The first write is one that is never refused under OOM; then none is.
write('DEL', L)
if v then
  local soft = v.soft < now and v.soft or now
  -- In place: the TTL, the flags, the extension and the payload stay.
  write('SETRANGE', V, '15', decimal(soft, 16) .. sub(v.identity, 17, 45) .. NO_EPOCH .. ' '
    .. NO_SEQ .. sub(v.identity, 73))
else
  write('DEL', V)
end
if hold_off > now then
  hold(hold_off)
end
tell(record, channels)
tell_change(changes)
return answer('DONE')
