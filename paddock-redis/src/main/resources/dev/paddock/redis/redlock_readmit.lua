-- REDLOCK_READMIT: lets a run of this server vote again, once that is safe.
--
-- KEYS       1 and 3 E, 2 C
-- ARGV       1 fingerprint, 2 ms for which it must have been away from votes, 3 what: ASK, REPAIR,
--            FOUND_ASK, FOUND (a bootstrap, which also takes a server over from another group), NEW
--            (a bootstrap of servers that never had a lease: without waiting), 4 run id for which
--            the counters were collected (empty to ask), then bucket and token by turns
-- Reply      status (VOTING, WAITING, READY, OTHER_RUN, FOREIGN), now, run id, ms to wait (zeros
--            unless waiting)
-- Invariant  E comes last: when it is there, all leases that another run had granted are over, and
--            all counters are what the collection says, or more. A restart shows in the uptime; a
--            server whose E is gone without a restart (FLUSHALL) has lost its leases at a time that
--            nobody knows, so it waits from when that was noticed.

local fingerprint, away, what, collected = ARGV[1], number(ARGV[2]), ARGV[3], ARGV[4]
local asks = what == 'ASK' or what == 'FOUND_ASK'
local founds = what == 'FOUND' or what == 'FOUND_ASK'

local function answer(status, millis)
  return {status, decimal(now, 16), run, decimal(millis, 16)}
end

local may = standing(fingerprint)
if may == 'FOREIGN' and not founds then
  return answer(may, 0)
end
if run == '' or (not asks and collected ~= run) then
  return answer('OTHER_RUN', 0)
end

local function waited()
  local from, to = find(server, 'uptime_in_seconds:[0-9]+')
  -- The difference of two readings in whole seconds may be nearly one too much.
  local up = ((from and number(sub(server, from + 18, to)) or 0) - 1) * 1000
  if may == 'FOREIGN' or not epoch[1] or (epoch[1] == run and not epoch[3]) then
    write('HSET', E, 'r', run, 'w', decimal(now, 16))
    write('HDEL', E, 'f')
    return 0
  end
  local since = epoch[1] == run and now - (number(epoch[3]) or now) or up
  return since < up and since or up
end

if may ~= 'VOTING' and what ~= 'NEW' then
  local millis = waited()
  millis = away - (millis < 0 and 0 or millis)
  if millis > 0 then
    return answer('WAITING', millis)
  end
end
if asks then
  return answer(may == 'VOTING' and may or 'READY', 0)
end

for i = 5, #ARGV, 2 do
  local least = token(ARGV[i + 1]) or ZEROS
  if (token(read('HGET', C, ARGV[i])) or ZEROS) < least then
    write('HSET', C, ARGV[i], bare(least))
  end
end
if may ~= 'VOTING' then
  write('HSET', E, 'r', run, 'f', fingerprint)
  write('HDEL', E, 'w')
end
return answer('VOTING', 0)
