-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- Stores what was loaded, frees the claim and sends the value to all who listen.
--
-- KEYS   1 the value, 2 the claim
-- ARGV   1 value, 2 how long it lives (ms), 3 channel, or empty to tell nobody, 4 padding, not used
-- Reply  OK

redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
redis.call('DEL', KEYS[2])
if ARGV[3] ~= '' then
  redis.call('PUBLISH', ARGV[3], KEYS[1] .. '\n' .. ARGV[1])
end
return 'OK'
