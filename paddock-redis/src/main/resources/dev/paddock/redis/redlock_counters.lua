-- REDLOCK_COUNTERS: tells the counters of all buckets.
--
-- KEYS       1 and 3 E, 2 C
-- ARGV       1 fingerprint
-- Reply      standing (VOTING, AMNESIA, FOREIGN), now, run id, then bucket and token by turns, in
--            any order
-- Invariant  Writes nothing.

local reply = {standing(ARGV[1]), decimal(now, 16), run}
local all = read('HGETALL', C)
for i = 1, #all do
  reply[3 + i] = all[i]
end
return reply
