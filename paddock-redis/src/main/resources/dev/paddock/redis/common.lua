-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The prelude of each script; the client puts it in front of the script's own text, and rules.lua in
-- place of the line that names it. This part is all that the usual case needs, for a server spends
-- more time on making the rules' functions than that case takes: a script that knows such a case
-- tries it first, and does as if it had not wherever anything is unusual.
--
-- KEYS       1 the value V, 2 its lease record L, which is also the channel of hints. Without the
--            second, L is the last of ARGV: while a slot is on its way to another node of a cluster,
--            the node refuses commands that name several keys of it unless all of them exist.
-- Numbers    decimal digits, 16 of them for milliseconds and 10 for seqs; without leading zeros
--            where a command takes them as they come. Formatted in halves of eight digits: whole
--            numbers of that size look the same in every Lua.
-- Reply      one bulk string, a space between its parts, as many each time: status, server time in
--            seconds and microseconds of the second, then what the script adds
-- Invariant  L has a TTL whenever a script ends, also by an error.

local V, L = KEYS[1], KEYS[2] or ARGV[#ARGV]

local format, sub = string.format, string.sub
local floor = math.floor

-- The length of a grant, with which L begins, and where L says that somebody waits.
local GRANT, AWAITED = 60, 113

-- What the hint says: nothing, or the whole value that was stored, if it is short.
local HINT_MAX = 4096

local function failed(reply)
  return type(reply) == 'table' and reply.err
end

local clock = redis.pcall('TIME')
if failed(clock) then
  error('UNDONE ' .. clock.err, 0)
end
local now = clock[1] * 1000 + floor(clock[2] / 1000)

-- A whole number that is not negative to so many digits, 16 at most.
local function decimal(n, width)
  local low = n % 100000000
  return sub(format('%08d%08d', (n - low) / 100000000, low), 17 - width)
end
