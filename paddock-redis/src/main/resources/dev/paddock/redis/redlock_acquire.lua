-- REDLOCK_ACQUIRE: this server's vote for an owner, if nobody holds the lease here.
--
-- KEYS       1 L, 2 C, 3 E
-- ARGV       1 owner, 2 lease ms without leading zeros, 3 not after (server ms), 4 who waits
--            (NOBODY, REQUESTER if refused, OTHERS in any case), 5 bucket, 6 fingerprint
-- Reply      status (GRANTED, HELD, TOO_LATE, AMNESIA, FOREIGN), now, token (zeros unless granted),
--            ms left and owner (zeros and empty unless held)
-- Invariant  The token is greater than each granted or committed here before in the bucket, while
--            the server keeps its memory. A bucket without a counter starts at the server's time.
--            The counter comes first: a server out of memory refuses it, and nothing has happened
--            then. A replay gets the same token, counts once and never shortens the lease.

local owner, lease_digits, waiting, bucket, fingerprint =
  ARGV[1], ARGV[2], ARGV[4], ARGV[5], ARGV[6]

-- The usual case: this server votes, nobody holds the lease, and its bucket has a counter of 16
-- digits, as the clock makes them until 2255; then it has as many after one more.
local counted = false
if votes_for == fingerprint and time_millis <= ARGV[3] and redis.pcall('PTTL', L) == -2 then
  local last = redis.pcall('HGET', C, bucket)
  if type(last) == 'string' and #last == 16 and last < '9' then
    local count = redis.pcall('HINCRBY', C, bucket, '1')
    counted = type(count) == 'number'
    local vote = counted and redis.pcall('HGET', C, bucket)
    if type(vote) == 'string' and #vote == 16 and count > 0 then
      vote = '000' .. vote
      if redis.pcall('HSET', L, 'o', owner, 'g', vote, 'q', waiting == 'OTHERS' and '1' or '') == 3
        and redis.pcall('PEXPIRE', L, lease_digits) == 1 then
        return {'GRANTED', time_millis, vote, '0000000000000000', ''}
      end
    end
  end
end

-- rules.lua

wrote = counted
local lease_millis, not_after = number(lease_digits), number(ARGV[3])

local function answer(status, granted, millis, holder)
  return {status, decimal(now, 16), granted, decimal(millis, 16), holder}
end

local may = standing(fingerprint)
if may ~= 'VOTING' then
  return answer(may, ZEROS, 0, '')
end
if now > not_after then
  return answer('TOO_LATE', ZEROS, 0, '')
end

local held = lease()
if held.owner == owner then
  keep(lease_millis)
  return answer('GRANTED', held.token, 0, '')
end
if read('PTTL', L) ~= -2 then
  if waiting ~= 'NOBODY' and not held.awaited then
    write('HSET', L, 'q', '1')
  end
  return answer('HELD', ZEROS, left(lease_millis), held.owner)
end

if token(read('HGET', C, bucket)) then
  write('HINCRBY', C, bucket, '1')
else
  write('HSET', C, bucket, micros())
end
local granted = token(read('HGET', C, bucket))
write('HSET', L, 'o', owner, 'g', granted, 'q', waiting == 'OTHERS' and '1' or '')
write('PEXPIRE', L, plain(lease_millis))
return answer('GRANTED', granted, 0, '')
