-- GET_OR_ACQUIRE: the value if it is fresh, else the right to load it, else who has that right.
--
-- KEYS       1 V, 2 L
-- ARGV       1 what a first grant would be (owner, 64 random bits, seq 1), 2 lease ms, 3 grace ms
--            without leading zeros, 4 not after (server ms), 5 mode (NORMAL, REPLACE_STALE,
--            REPLACE_BROKEN, FORCED), 6 degraded (1 or 0), 7 the header seen, from soft expiry to
--            schema version, or empty, 8 channels (P plain, S sharded)
-- Reply      status, now, epoch, seq, ms left, U if something unreadable is stored else -, value or
--            empty
-- Invariant  One live lease for each key, one degraded load for each lease. The same owner gets the
--            same answer. Each grant has a seq of its own within the epoch. No request makes the
--            same epoch twice, however often it arrives: what ended an epoch has ended it for good.

local grant, lease_digits, grace, not_after = ARGV[1], ARGV[2], ARGV[3], ARGV[4] + 0

local found, text = redis.pcall('GET', V), redis.pcall('GET', L)

-- A new epoch: half of it is the client's random bits, half the moment, to 100 seconds.
local new_epoch = sub(grant, 42, 49) .. sub(clock[1], -2) .. sub('000000' .. clock[2], -6)

-- The usual case: there is nothing, so whatever was asked the lease is granted.
if not found and not text and now <= not_after then
  local first = ' ' .. new_epoch .. ' 0000000001'
  local reply = redis.pcall('SET', L, sub(grant, 1, 32) .. first .. ' '
    .. decimal(now + lease_digits, 16) .. ' ' .. lease_digits
    .. ' 0000000000000000 0 --------------------------------', 'PX', grace)
  if not failed(reply) then
    return 'GRANTED ' .. clock[1] .. ' ' .. clock[2] .. first .. ' 0000000000000000 - '
  end
end

-- rules.lua

local mode, wants_degraded, seen, channels = ARGV[5], ARGV[6] == '1', ARGV[7], ARGV[8]
local owner = sub(grant, 1, 32)

local unreadable, value = '-', ''

local function reply_with(status, epoch, seq, left)
  return answer(status) .. ' ' .. epoch .. ' ' .. decimal(seq, 10) .. ' ' .. decimal(left, 16)
    .. ' ' .. unreadable .. ' ' .. value
end

if now > not_after then
  return reply_with('TOO_LATE', NO_EPOCH, 0, 0)
end

local v = nil
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
local record = lease(text)
local mine = owns(record, owner)

if fresh and mode ~= 'FORCED' and not (mode == 'REPLACE_STALE' and v.identity == seen) then
  if mine then
    write('DEL', L)
    tell(record, channels)
  end
  return reply_with('HIT', NO_EPOCH, 0, 0)
end

if record.hold_off > now then
  return reply_with('HOLDOFF', NO_EPOCH, 0, record.hold_off - now)
end

if record.live then
  if mine then
    -- The degraded load beside it took the next seq.
    local seq = record.degraded == NOBODY and record.seq or record.seq - 1
    return reply_with('MINE', record.epoch, seq, record.left)
  end
  if wants_degraded and record.owner ~= NOBODY then
    local granted = record.degraded == owner
    local seq = record.seq
    if record.degraded == NOBODY and seq < SEQ_MAX then
      seq = seq + 1
      -- From the seq to the end, in one write.
      local reply = redis.pcall('SETRANGE', L, '50',
        decimal(seq, 10) .. sub(record.text, 61, 114) .. owner)
      if not failed(reply) then
        granted = true
      elseif not out_of_memory(reply) then
        raise(reply)
      end
    end
    if granted then
      value = ''
      return reply_with('DEGRADED', record.epoch, seq, 0)
    end
  end
  if fresh then
    return reply_with('FRESH', NO_EPOCH, 0, record.left)
  end
  if record.owner == NOBODY then
    return reply_with('COOLDOWN', record.epoch, 0, record.left)
  end
  if record.awaited ~= '1' then
    -- With a stale value too: it may be too old for who asked. Refused under OOM: then they poll.
    redis.pcall('SETRANGE', L, '112', '1')
  end
  if v then
    return reply_with('STALE', record.epoch, 0, record.left)
  end
  return reply_with('WAIT', record.epoch, 0, record.left)
end

local epoch, seq = record.epoch, record.seq + 1
if epoch == NO_EPOCH or seq > SEQ_MAX then
  epoch, seq = new_epoch, 1
end
local grace_millis = number(grace)
local ttl_millis = record.absent and grace_millis or lasting(grace_millis)
-- Who waited for the last holder waits for this one.
local reply = redis.pcall('SET', L,
  record_of(owner .. ' ' .. epoch .. ' ' .. decimal(seq, 10), decimal(now + lease_digits, 16),
    lease_digits, decimal(record.hold_off, 16), record.awaited),
  'PX', plain(ttl_millis))
if failed(reply) then
  if out_of_memory(reply) then
    return reply_with('NO_LEASE', NO_EPOCH, 0, 0)
  end
  raise(reply)
end
return reply_with(v and 'STALE_GRANTED' or 'GRANTED', epoch, seq, 0)
