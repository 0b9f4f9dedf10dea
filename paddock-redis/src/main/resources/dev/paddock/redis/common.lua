-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The prelude of each script; the client puts it in front of the script's own text. It reads the
-- server's clock, the header of V and the lease record L, and holds the rules for writing.
--
-- KEYS       1 the value V, 2 its lease record L, which is also the channel of hints. Without the
--            second, L is the last of ARGV: while a slot is on its way to another node of a cluster,
--            the node refuses commands that name several keys of it unless all of them exist.
-- Numbers    decimal digits, 16 of them for milliseconds, 10 for seqs. Formatted in halves of eight
--            digits: whole numbers of that size look the same in every Lua.
-- Reply      bulk strings, as many each time, none nil: status, server time, then what the script
--            adds
-- Invariant  L has a TTL whenever a script ends, also by an error.

local V, L = KEYS[1], KEYS[2] or ARGV[#ARGV]

local find, format, sub = string.find, string.format, string.sub
local floor = math.floor

local FIXED = 99
local NO_EPOCH = '0000000000000000'
local NO_SEQ = '0000000000'
local NO_MILLIS = NO_EPOCH
local SEQ_MAX = 9999999999
local SCHEMA_MAX = 2147483647

local EPOCH = '^[0-9a-f]+$'
local HEADER = '^PDK1 ([0-9]+) ([VN])[C%-][T%-]%- ([0-9]+) ([0-9]+) ([0-9]+) ([0-9a-f]+) ([0-9]+)'
  .. ' ([0-9]+)\n$'

-- Digits to a number; nil for anything else, false included.
local function number(text)
  if text and #text <= 16 and find(text, '^[0-9]+$') then
    return text + 0
  end
  return nil
end

-- A whole number that is not negative to so many digits, 16 at most.
local function decimal(n, width)
  local low = n % 100000000
  return sub(format('%08d%08d', (n - low) / 100000000, low), 17 - width)
end

-- As commands want it: no leading zeros.
local function plain(n)
  local text = decimal(n, 16)
  return sub(text, find(text, '[1-9]') or 16)
end

-- Whether something has been written. Servers word their refusals in many ways, so an error is
-- passed on with a mark that tells the client whether anything has happened.
local wrote = false

local function failed(reply)
  return type(reply) == 'table' and reply.err
end

local function out_of_memory(reply)
  return find(reply.err, 'OOM ', 1, true)
end

local function wrong_type(reply)
  return find(reply.err, 'WRONGTYPE', 1, true)
end

local function raise(reply)
  if wrote then
    error('PARTIAL ' .. reply.err, 0)
  end
  error('UNDONE ' .. reply.err, 0)
end

local function read(...)
  local reply = redis.pcall(...)
  if failed(reply) then
    raise(reply)
  end
  return reply
end

local function write(...)
  local reply = redis.pcall(...)
  if failed(reply) then
    raise(reply)
  end
  wrote = true
  return reply
end

local clock = read('TIME')
local now = clock[1] * 1000 + floor(clock[2] / 1000)

-- Gives L a TTL, never a shorter one than it has; an absent one has none. PEXPIRE is not refused
-- under OOM, and a script that has written once is not refused the rest: where this comes first, the
-- lease can be freed and extended whatever the memory.
local function keep(millis, absent)
  local left = absent and 0 or redis.pcall('PTTL', L)
  local reply = left
  if not failed(left) then
    if left < millis then
      left = millis
    end
    reply = redis.pcall('PEXPIRE', L, plain(left))
  end
  if failed(reply) then
    if wrote then
      redis.pcall('DEL', L)
    end
    raise(reply)
  end
  wrote = true
end

-- The header, from the value's first FIXED bytes and its whole length; nil if it can't be read.
-- The client reads by the same rules: what it takes for unreadable is no hit here.
local function parse(head, length)
  local found, last, own, kind, soft, start, load, epoch, seq, schema = find(head, HEADER)
  if not found or last ~= FIXED or #own ~= 4 or #soft ~= 16 or #start ~= 16 or #load ~= 10
    or #epoch ~= 16 or #seq ~= 10 or #schema ~= 10 then
    return nil
  end
  local header_length = own + 0
  if header_length < FIXED or header_length > length then
    return nil
  end
  if kind == 'N' and length > header_length then
    return nil
  end
  if schema + 0 > SCHEMA_MAX then
    return nil
  end
  return {soft = soft + 0, epoch = epoch, seq = seq + 0, identity = sub(head, 16, 98)}
end

-- The header of what is stored, without its payload; nil if there is none that can be read.
local function stored()
  local head = redis.pcall('GETRANGE', V, '0', '98')
  if failed(head) then
    if wrong_type(head) then
      return nil
    end
    raise(head)
  end
  if #head < FIXED then
    return nil
  end
  return parse(head, read('STRLEN', V))
end

-- The lease record. A key of another type in its place is none of ours and counts as no record.
local function lease()
  local f = redis.pcall('HMGET', L, 'o', 'd', 'w', 'e', 'n', 'h', 'q', 'g')
  local foreign = false
  if failed(f) then
    if not wrong_type(f) then
      raise(f)
    end
    f = {}
    foreign = true
  end
  local epoch, seq = f[4], number(f[5])
  if not epoch or not seq or epoch == NO_EPOCH or #epoch ~= 16 or not find(epoch, EPOCH) then
    epoch, seq = nil, 0
  end
  local deadline, granted = number(f[2]) or 0, number(f[3]) or 0
  local left = deadline - now
  return {
    owner = f[1] or '',
    absent = foreign
      or not (f[1] or f[2] or f[3] or f[4] or f[5] or f[6] or f[7] or f[8]),
    left = left,
    -- As granted: a clock that stepped back ends the lease, another client's setting doesn't.
    live = epoch ~= nil and left > 0 and left <= granted,
    epoch = epoch,
    seq = seq,
    hold_off = number(f[6]) or 0,
    awaited = f[7] == '1',
    degraded = f[8] or '',
    foreign = foreign,
  }
end

local function owns(record, owner)
  return owner ~= '' and record.owner == owner
end

-- What the hint says: nothing, or the whole value that was stored, if it is short.
local HINT_MAX = 4096
local hint = ''

-- The hint, last and without consequence: a user without the right to the channel works by polls.
local function tell(record, channels)
  if not record.awaited then
    return
  end
  if channels == 'S' then
    redis.pcall('SPUBLISH', L, hint)
  else
    redis.pcall('PUBLISH', L, hint)
  end
end

-- Replaces the record by the hold-off alone.
local function hold(deadline)
  write('HSET', L, 'h', decimal(deadline, 16))
  keep(deadline - now, true)
end
