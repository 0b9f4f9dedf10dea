-- FILL: stores what was loaded under a lease, unless something newer has happened, and frees the
-- lease.
--
-- KEYS       1 V, 2 L
-- ARGV       1 owner, 2 epoch, 3 seq, 4 header and payload, 5 TTL ms, 6 channels (P plain, S
--            sharded)
-- Reply      status (STORED, STORED_LATE, SUPERSEDED, INVALIDATED, REFUSED), now
-- Invariant  Stores only while L still has the epoch, which ends with each invalidation, put and
--            fill by the lease's owner; within an epoch a lower seq never replaces a higher one. A
--            lease of another owner is left alone.

local owner, epoch, seq, bytes, ttl_millis, channels =
  ARGV[1], ARGV[2], number(ARGV[3]), ARGV[4], number(ARGV[5]), ARGV[6]

local function answer(status)
  return {status, decimal(now, 16)}
end

local v = stored()
local record = lease()
local mine = owns(record, owner)

local function free()
  if mine then
    write('DEL', L)
    tell(record, channels)
  end
end

if v and v.epoch == epoch then
  if v.seq == seq and not mine then
    return answer('STORED')
  end
  if v.seq > seq then
    free()
    return answer('SUPERSEDED')
  end
end

if record.epoch ~= epoch then
  free()
  return answer('INVALIDATED')
end

-- The first write: refused under OOM, and then nothing has changed.
local reply = redis.pcall('SET', V, bytes, 'PX', plain(ttl_millis))
if failed(reply) then
  if out_of_memory(reply) then
    return answer('REFUSED')
  end
  raise(reply)
end
wrote = true
hint = #bytes <= HINT_MAX and bytes or ''
if mine then
  free()
  return answer('STORED')
end
tell(record, channels)
return answer('STORED_LATE')
