-- LEASE_ACQUIRE: grants a lease that nobody holds, with a new fencing token.
--
-- KEYS       1 L, 2 C
-- ARGV       1 owner, 2 lease ms without leading zeros, 3 not after (server ms), 4 who waits
--            (NOBODY, REQUESTER if refused, OTHERS in any case), 5 the requester's place, 6 the line
--            from its place on if its turn has come, else empty
-- Reply      status (GRANTED, HELD, TOO_LATE), now, token (zeros unless granted), ms left (zeros
--            unless held)
-- Invariant  The token is greater than each granted before in the bucket, and no less than the
--            server's time in microseconds: a counter that was lost starts beyond those that it
--            had, if the clocks agree better than the loss takes. The counter comes first: a server
--            out of memory refuses it, and nothing has happened then. A replay gets the same token.

local owner, lease_digits, waiting, place, turn = ARGV[1], ARGV[2], ARGV[4], ARGV[5], ARGV[6]

-- Whose turn it was takes those behind it along.
local line = sub(turn, 10)
if waiting == 'OTHERS' then
  line = line .. place
end

-- The usual case: nobody holds it, and the counter is behind the clock.
local counted = false
if time_millis ~= '' and time_millis <= ARGV[3] and redis.pcall('PTTL', L) == -2 then
  local last = redis.pcall('GET', C)
  if not last or (type(last) == 'string' and #last == #time_micros and last < time_micros) then
    counted = not redis.pcall('SET', C, time_micros).err
    local granted = '000' .. time_micros
    if counted and redis.pcall('HSET', L, 'o', owner, 'g', granted, 'q', line) == 3
      and redis.pcall('PEXPIRE', L, lease_digits) == 1 then
      return {'GRANTED', time_millis, granted, '0000000000000000'}
    end
  end
end

-- rules.lua

wrote = counted
local lease_millis, not_after = number(lease_digits), number(ARGV[3])

local function answer(status, granted, millis)
  return {status, now_digits(), granted, decimal(millis, 16)}
end

if now > not_after then
  return answer('TOO_LATE', ZEROS, 0)
end

local PLACE = 9
-- About a hundred processes; those beyond find out by themselves.
local LINE_MAX = 900

-- A line with those of another behind it who are not in it yet.
local function joined(front, behind)
  for i = 1, #behind, PLACE do
    local one = sub(behind, i, i + PLACE - 1)
    if #front < LINE_MAX and not find(front, one, 1, true) then
      front = front .. one
    end
  end
  return front
end

local held = lease()
if held.owner == owner then
  keep(lease_millis)
  return answer('GRANTED', held.token, 0)
end
if read('PTTL', L) ~= -2 then
  if waiting ~= 'NOBODY' then
    -- Those whose turn had come before somebody overtook them stay in front.
    local now_waiting = joined(joined(turn, held.line), place)
    if now_waiting ~= held.line then
      write('HSET', L, 'q', now_waiting)
    end
  end
  return answer('HELD', ZEROS, left(lease_millis))
end

write('INCR', C)
local granted = token(read('GET', C))
local least = token(micros())
if not granted or granted < least then
  granted = least
  write('SET', C, micros())
end
write('HSET', L, 'o', owner, 'g', granted, 'q', line)
write('PEXPIRE', L, lease_digits)
return answer('GRANTED', granted, 0)
