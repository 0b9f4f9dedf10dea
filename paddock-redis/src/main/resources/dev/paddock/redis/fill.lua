-- FILL: stores what was loaded under a lease, unless something newer has happened, and frees the
-- lease.
--
-- KEYS       1 V, 2 L
-- ARGV       1 the grant (owner, epoch, seq), 2 header and payload, 3 TTL ms without leading zeros,
--            4 channels (P plain, S sharded)
-- Reply      status (STORED, STORED_LATE, SUPERSEDED, INVALIDATED, REFUSED), now
-- Invariant  Stores only while L still has the epoch, which ends with each invalidation, put and
--            fill by the lease's owner; within an epoch a lower seq never replaces a higher one. A
--            lease of another owner is left alone.

local grant, bytes, ttl, channels = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

local text = redis.pcall('GET', L)

-- The usual case: L still begins with this grant. So it is the owner's, the epoch goes on, and no
-- later seq was given in it: whatever V holds is not newer, and need not be read.
if type(text) == 'string' and sub(text, 1, GRANT) == grant then
  if not failed(redis.pcall('SET', V, bytes, 'PX', ttl)) and not failed(redis.pcall('DEL', L)) then
    if sub(text, AWAITED, AWAITED) == '1' then
      local news = #bytes <= HINT_MAX and bytes or ''
      if channels == 'S' then
        redis.pcall('SPUBLISH', L, news)
      else
        redis.pcall('PUBLISH', L, news)
      end
    end
    return 'STORED ' .. clock[1] .. ' ' .. clock[2]
  end
end

-- rules.lua

local owner, epoch, seq = sub(grant, 1, 32), sub(grant, 34, 49), number(sub(grant, 51))

local v = stored()
local record = lease(text)
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

if epoch == NO_EPOCH or record.epoch ~= epoch then
  free()
  return answer('INVALIDATED')
end

-- The first write: refused under OOM, and then nothing has changed.
local reply = redis.pcall('SET', V, bytes, 'PX', ttl)
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
if seq > record.seq then
  -- L is older than this grant: the server went back in time. Its holder's fill must find V newer,
  -- which it does not look for while L begins with its own grant.
  redis.pcall('SETRANGE', L, '50', decimal(seq, 10))
end
tell(record, channels)
return answer('STORED_LATE')
