-- LEASE_RELEASE: frees a lease.
--
-- KEYS       1 L, 2 C
-- ARGV       1 owner, 2 channels (P plain, S sharded)
-- Reply      status (RELEASED, NOT_OWNER), now
-- Invariant  Only the owner's own lease. The counter stays. Never refused under OOM. The hint, with
--            the line, comes last and without consequence: a user without the right to the channel
--            works by polls.

local owner, channels = ARGV[1], ARGV[2]

local function hint(line)
  if line and line ~= '' then
    if channels == 'S' then
      redis.pcall('SPUBLISH', L, line)
    else
      redis.pcall('PUBLISH', L, line)
    end
  end
end

-- The usual case: it is the owner's, and nothing fails.
local holder = redis.pcall('HMGET', L, 'o', 'q')
if time_millis ~= '' and holder[1] == owner and redis.pcall('DEL', L) == 1 then
  hint(holder[2])
  return {'RELEASED', time_millis}
end

-- rules.lua

local held = lease()
if held.owner ~= owner then
  return {'NOT_OWNER', now_digits()}
end
write('DEL', L)
hint(held.line)
return {'RELEASED', now_digits()}
