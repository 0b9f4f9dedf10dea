-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- FENCED_WRITE: sets or deletes a value, unless a later holder has written it.
--
-- KEYS       1 the value V, 2 its fence F
-- ARGV       1 token (19 digits), 2 unique id, 3 what (SET, DEL, FLOOR), 4 value, 5 ms it lives
--            (0 for ever)
-- F          a hash: t the last token accepted, o the unique id of its lease. Never with a TTL
-- Reply      status (ACCEPTED, REJECTED), the last token accepted, this one included
-- Invariant  t never gets smaller. HSET comes first: a server out of memory refuses it, and nothing
--            has happened then. Tokens are compared as text of a fixed width: Lua's numbers lose
--            digits.

local V, F = KEYS[1], KEYS[2]
local token, id, what, value, millis = ARGV[1], ARGV[2], ARGV[3], ARGV[4], ARGV[5]

local fence = redis.call('HMGET', F, 't', 'o')
local last = fence[1]
if last and (token < last or (token == last and fence[2] ~= id)) then
  return {'REJECTED', last}
end
redis.call('HSET', F, 't', token, 'o', id)
if what == 'SET' and millis == '0' then
  redis.call('SET', V, value)
elseif what == 'SET' then
  redis.call('SET', V, value, 'PX', millis)
elseif what == 'DEL' then
  redis.call('DEL', V)
end
return {'ACCEPTED', token}
