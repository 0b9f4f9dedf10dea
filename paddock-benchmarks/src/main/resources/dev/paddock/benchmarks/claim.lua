-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The value if there is one, else the right to load it.
--
-- KEYS   1 the value, 2 the claim
-- ARGV   1 owner, 2 how long the claim lasts (ms), 3 padding, not used
-- Reply  HIT, GRANTED or WAIT, and the value or empty

local value = redis.call('GET', KEYS[1])
if value then
  return {'HIT', value}
end
if redis.call('SET', KEYS[2], ARGV[1], 'NX', 'PX', ARGV[2]) then
  return {'GRANTED', ''}
end
return {'WAIT', ''}
