-- REDLOCK_COMMIT: makes this server remember the token that a majority's votes came to.
--
-- KEYS       1 L, 2 C, 3 E
-- ARGV       1 owner, 2 token, 3 bucket, 4 fingerprint
-- Reply      status (OK, LOST, BEHIND, AMNESIA, FOREIGN), now, token of the lease here (zeros unless
--            OK or BEHIND)
-- Invariant  Only while the owner still holds the lease here, and never below the vote that it got
--            here: of two leases that committed here one was granted after the other was committed,
--            and so has the greater token. The counter is never lowered.

local owner, wanted, bucket, fingerprint = ARGV[1], ARGV[2], ARGV[3], ARGV[4]

-- The usual case: this server votes, the owner holds the lease by no greater vote, and the counter
-- is no further either; tokens of 16 digits, as the clock makes them.
local counted = false
if votes_for == fingerprint and #wanted == 16 and find(wanted, '^[1-9][0-9]+$') then
  local holder = redis.pcall('HMGET', L, 'o', 'g')
  local last = redis.pcall('HGET', C, bucket)
  local padded = '000' .. wanted
  if holder[1] == owner and holder[2] and #holder[2] == 19 and holder[2] <= padded
    and type(last) == 'string' and #last == 16 and last <= wanted
    and not find(holder[2] .. last, '[^0-9]') then
    counted = redis.pcall('HSET', C, bucket, wanted) == 0
    if counted and redis.pcall('HSET', L, 'g', padded) == 0 then
      return {'OK', time_millis, padded}
    end
  end
end

-- rules.lua

wrote = counted
wanted = token(wanted) or ZEROS

local function answer(status, held_token)
  return {status, decimal(now, 16), held_token}
end

local may = standing(fingerprint)
if may ~= 'VOTING' then
  return answer(may, ZEROS)
end

local held = lease()
if held.owner ~= owner then
  return answer('LOST', ZEROS)
end
if wanted < held.token then
  return answer('BEHIND', held.token)
end
if (token(read('HGET', C, bucket)) or ZEROS) < wanted then
  write('HSET', C, bucket, bare(wanted))
end
if held.token ~= wanted then
  write('HSET', L, 'g', wanted)
end
return answer('OK', wanted)
