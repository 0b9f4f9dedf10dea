-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- What the scripts of Redlock begin with, after the beginning of those of leases: what tells whether
-- this server may vote. The preludes come after it, at once or where a script says rules.lua.
--
-- KEYS       3 the epoch E, see redlock_common.lua

local E = KEYS[3]

local find = string.find

local server = redis.pcall('INFO', 'server')
local epoch = redis.pcall('HMGET', E, 'r', 'f', 'w')

-- The fingerprint of the group for which this run votes; false if it votes for none, and where only
-- the rules can tell. All servers have a run id of 40 digits: as many must be the same.
local votes_for = time_millis ~= '' and type(server) == 'string' and epoch[1] and #epoch[1] == 40
  and find(server, '\nrun_id:' .. epoch[1], 1, true) and epoch[2]
