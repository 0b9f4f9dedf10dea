-- PUT: stores a value that was not loaded under a lease; loads in flight will not overwrite it.
--
-- KEYS       1 V, 2 L
-- ARGV       1 header (epoch 0) and payload, 2 TTL ms without leading zeros, 3 not after (server
--            ms), 4 channels (P plain, S sharded), 5 channel of changes, or empty
-- Reply      status (STORED, TOO_LATE, REFUSED), now
-- Invariant  After it no fill of an earlier grant is stored. A hold-off stays.

-- rules.lua

local bytes, ttl, not_after, channels = ARGV[1], ARGV[2], number(ARGV[3]), ARGV[4]
local changes = ARGV[5]

if now > not_after then
  return answer('TOO_LATE')
end

local record = lease(redis.pcall('GET', L))
-- The first write: refused under OOM, and then nothing has changed.
local reply = redis.pcall('SET', V, bytes, 'PX', ttl)
if failed(reply) then
  if out_of_memory(reply) then
    return answer('REFUSED')
  end
  raise(reply)
end
wrote = true
write('DEL', L)
if record.hold_off > now then
  hold(record.hold_off)
end
tell(record, channels)
tell_change(changes)
return answer('STORED')
