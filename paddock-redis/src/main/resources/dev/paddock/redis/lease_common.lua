-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The prelude of each script of leases; the client puts it in front of the script's own text.
--
-- KEYS       1 the lease L, which is also the channel of hints; 2 the counter C of its bucket
-- L          a hash: o owner, g fencing token, q who waits: the line. Always with a TTL
-- Line       the places of processes, one behind the other: 8 hexadecimal digits and a comma each;
--            empty if nobody waits. It is sent with the hint, and whoever is first in it takes it
--            along into the next lease. Only who is told first depends on it, so it may be lost
-- C          the last token granted in the bucket, decimal. Never with a TTL
-- Numbers    decimal digits. A token may pass 2^53, above which Lua loses digits: it is never a
--            number here, and compared as text of a fixed width
-- Reply      bulk strings, none nil: status, server time in ms, then what the script adds

local L, C = KEYS[1], KEYS[2]

local find, format, sub = string.find, string.format, string.sub
local floor = math.floor

local TOKEN_DIGITS = 19
local ZEROS = '0000000000000000000'

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

-- Digits to a token of fixed width; nil for anything else.
local function token(text)
  if text and #text <= TOKEN_DIGITS and find(text, '^[0-9]+$') then
    return sub(ZEROS, 1 + #text) .. text
  end
  return nil
end

-- Whether something has been written: an error is passed on with a mark that says so.
local wrote = false

local function failed(reply)
  return type(reply) == 'table' and reply.err
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

-- The server's time in microseconds, as digits: the least that a token may be.
local function micros()
  return clock[1] .. sub('000000' .. clock[2], -6)
end

-- The server's time in milliseconds, as replies have it.
local function now_digits()
  return sub(ZEROS, 1, 13 - #clock[1]) .. clock[1] .. sub('000000' .. clock[2], -6, -4)
end

local function lease()
  local f = read('HMGET', L, 'o', 'g', 'q')
  local line = f[3] or ''
  return {owner = f[1] or '', token = token(f[2]) or ZEROS, line = line, awaited = line ~= ''}
end

-- How long L lasts yet. A lease without a TTL would be held for ever: nobody of ours makes one, and
-- one that is found lasts as long as the requester's would.
local function left(millis)
  local ttl = read('PTTL', L)
  if ttl == -1 then
    write('PEXPIRE', L, plain(millis))
    return millis
  end
  return ttl < 0 and 0 or ttl
end

-- Makes L last at least so long; never shortens it.
local function keep(millis)
  if read('PTTL', L) < millis then
    write('PEXPIRE', L, plain(millis))
  end
end
