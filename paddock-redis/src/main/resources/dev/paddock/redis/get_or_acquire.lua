-- GET_OR_ACQUIRE: the value if it is fresh, else the right to load it, else who has that right.
--
-- KEYS       1 V, 2 L
-- ARGV       1 owner, 2 lease ms, 3 grace ms, 4 new epoch, 5 mode (NORMAL, REPLACE_STALE,
--            REPLACE_BROKEN, FORCED), 6 degraded (1 or 0), 7 the header seen, from soft expiry to
--            schema version, or empty, 8 not after (server ms), 9 channels (P plain, S sharded)
-- Reply      status, now, epoch, seq, ms left, U if something unreadable is stored else -, value or
--            empty
-- Invariant  One live lease for each key, one degraded load for each lease. The same owner gets the
--            same answer. Each grant has a seq of its own within the epoch.

local owner, lease_millis, grace_millis, new_epoch =
  ARGV[1], number(ARGV[2]), number(ARGV[3]), ARGV[4]
local mode, wants_degraded, seen, not_after, channels =
  ARGV[5], ARGV[6] == '1', ARGV[7], number(ARGV[8]), ARGV[9]

local unreadable, value = '-', ''

local function answer(status, epoch, seq, left)
  return {
    status, decimal(now, 16), epoch, seq == 0 and NO_SEQ or decimal(seq, 10),
    left == 0 and NO_MILLIS or decimal(left, 16), unreadable, value,
  }
end

if now > not_after then
  return answer('TOO_LATE', NO_EPOCH, 0, 0)
end

local v = nil
local found = redis.pcall('GET', V)
if failed(found) then
  if not wrong_type(found) then
    raise(found)
  end
  unreadable = 'U'
elseif found then
  v = parse(sub(found, 1, FIXED), #found)
  if not v then
    unreadable = 'U'
  elseif mode == 'REPLACE_BROKEN' and v.identity == seen then
    v = nil
  else
    value = found
  end
end
local fresh = v and now < v.soft
local record = lease()
local mine = owns(record, owner)

if fresh and mode ~= 'FORCED' and not (mode == 'REPLACE_STALE' and v.identity == seen) then
  if mine then
    write('DEL', L)
    tell(record, channels)
  end
  return answer('HIT', NO_EPOCH, 0, 0)
end

if record.hold_off > now then
  return answer('HOLDOFF', NO_EPOCH, 0, record.hold_off - now)
end

if record.live then
  if mine then
    -- The degraded load beside it took the next seq.
    local seq = record.degraded == '' and record.seq or record.seq - 1
    return answer('MINE', record.epoch, seq, record.left)
  end
  if wants_degraded and record.owner ~= '' then
    local granted = record.degraded == owner
    local seq = record.seq
    if record.degraded == '' and seq < SEQ_MAX then
      seq = seq + 1
      local reply = redis.pcall('HSET', L, 'g', owner, 'n', decimal(seq, 10))
      if not failed(reply) then
        granted = true
      elseif not out_of_memory(reply) then
        raise(reply)
      end
    end
    if granted then
      value = ''
      return answer('DEGRADED', record.epoch, seq, 0)
    end
  end
  if fresh then
    return answer('FRESH', NO_EPOCH, 0, record.left)
  end
  if record.owner == '' then
    return answer('COOLDOWN', record.epoch, 0, record.left)
  end
  if not record.awaited then
    -- With a stale value too: it may be too old for who asked. Refused under OOM: then they poll.
    redis.pcall('HSET', L, 'q', '1')
  end
  if v then
    return answer('STALE', record.epoch, 0, record.left)
  end
  return answer('WAIT', record.epoch, 0, record.left)
end

local epoch, seq = record.epoch or new_epoch, record.seq + 1
if seq > SEQ_MAX then
  epoch, seq = new_epoch, 1
end
if record.foreign then
  write('DEL', L)
end
-- Who waited for the last holder waits for this one: q stays.
local reply = redis.pcall('HSET', L, 'o', owner, 'd', decimal(now + lease_millis, 16),
  'w', decimal(lease_millis, 16), 'e', epoch, 'n', decimal(seq, 10), 'g', '')
if failed(reply) then
  if out_of_memory(reply) then
    return answer('NO_LEASE', NO_EPOCH, 0, 0)
  end
  raise(reply)
end
wrote = true
keep(grace_millis, record.absent)
return answer(v and 'STALE_GRANTED' or 'GRANTED', epoch, seq, 0)
