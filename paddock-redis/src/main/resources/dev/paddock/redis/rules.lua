-- The rules: how the header of V and the lease record L are read, and how both are written. The
-- client puts them in place of the line of a script that names them.

local find = string.find

local FIXED = 99
local NOBODY = '--------------------------------'
local NO_EPOCH = '0000000000000000'
local NO_SEQ = '0000000000'
local NO_MILLIS = NO_EPOCH
local SEQ_MAX = 9999999999
local SCHEMA_MAX = 2147483647

local HEADER = '^PDK1 ([0-9]+) ([VN])[C%-][T%-]%- ([0-9]+) ([0-9]+) ([0-9]+) ([0-9a-f]+) ([0-9]+)'
  .. ' ([0-9]+)\n$'
local RECORD = '^([0-9a-f%-]+) ([0-9a-f]+) ([0-9]+) ([0-9]+) ([0-9]+) ([0-9]+) ([01]) '
  .. '([0-9a-f%-]+)'

-- Digits to a number; nil for anything else, false included.
local function number(text)
  if text and #text <= 16 and find(text, '^[0-9]+$') then
    return text + 0
  end
  return nil
end

-- As commands want it: no leading zeros.
local function plain(n)
  local text = decimal(n, 16)
  return sub(text, find(text, '[1-9]') or 16)
end

-- Whether something has been written. Servers word their refusals in many ways, so an error is
-- passed on with a mark that tells the client whether anything has happened.
local wrote = false

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

-- The TTL of a record that exists if it shall be at least so long: never a shorter one than it has.
local function lasting(millis)
  local left = read('PTTL', L)
  return left < millis and millis or left
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

-- The lease record, from what GET has found. What is of another type or form is none of ours and
-- counts as no record; a later version may have appended fields.
local function lease(text)
  if failed(text) then
    if not wrong_type(text) then
      raise(text)
    end
    text = false
  end
  local found, last, owner, epoch, seq, deadline, granted, hold_off, awaited, degraded
  if text then
    found, last, owner, epoch, seq, deadline, granted, hold_off, awaited, degraded =
      find(text, RECORD)
  end
  if not found or #owner ~= 32 or #epoch ~= 16 or #seq ~= 10 or #deadline ~= 16 or #granted ~= 16
    or #hold_off ~= 16 or #degraded ~= 32
    or (#text > last and sub(text, last + 1, last + 1) ~= ' ') then
    return {
      absent = true, text = '', owner = NOBODY, epoch = NO_EPOCH, seq = 0, left = 0, live = false,
      hold_off = 0, awaited = '0', degraded = NOBODY,
    }
  end
  local left = deadline - now
  return {
    absent = false,
    text = text,
    owner = owner,
    epoch = epoch,
    seq = epoch == NO_EPOCH and 0 or seq + 0,
    left = left,
    -- As granted: a clock that stepped back ends the lease, another client's setting doesn't.
    live = epoch ~= NO_EPOCH and left > 0 and left <= granted + 0,
    hold_off = hold_off + 0,
    awaited = awaited,
    degraded = degraded,
  }
end

-- The same as text, with no degraded load.
local function record_of(grant, ends, length, held_off, waiting)
  return grant .. ' ' .. ends .. ' ' .. length .. ' ' .. held_off .. ' ' .. waiting .. ' ' .. NOBODY
end

local function owns(record, owner)
  return owner ~= NOBODY and record.owner == owner
end

local hint = ''

-- The hint, last and without consequence: a user without the right to the channel works by polls.
local function tell(record, channels)
  if record.awaited ~= '1' then
    return
  end
  if channels == 'S' then
    redis.pcall('SPUBLISH', L, hint)
  else
    redis.pcall('PUBLISH', L, hint)
  end
end

-- Tells those who keep values of the same cache near; plainly, for they are not with the slot.
local function tell_change(changes)
  if changes ~= '' then
    redis.pcall('PUBLISH', changes, 'K' .. V)
  end
end

-- Replaces the record by the hold-off alone.
local function hold(deadline)
  write('SET', L, record_of(NOBODY .. ' ' .. NO_EPOCH .. ' ' .. NO_SEQ, NO_MILLIS, NO_MILLIS,
    decimal(deadline, 16), '0'), 'PX', plain(deadline - now))
end

local function answer(status)
  return status .. ' ' .. clock[1] .. ' ' .. clock[2]
end
