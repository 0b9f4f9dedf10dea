-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- What the scripts of leases begin with that try the usual case first; the prelude, which takes as
-- long as that case, comes after it (lease_common.lua, where they say rules.lua).

local L, C = KEYS[1], KEYS[2]

local sub = string.sub

-- The server's time: in microseconds, and in milliseconds as replies have it. Empty after 2286, when
-- it has more digits, and where TIME is refused.
local clock = redis.pcall('TIME')
local time_micros, time_millis = '', ''
if clock[1] and #clock[1] == 10 then
  time_micros = clock[1] .. sub('000000' .. clock[2], -6)
  time_millis = '000' .. sub(time_micros, 1, 13)
end
