-- Copyright The Paddock Authors
-- SPDX-License-Identifier: Apache-2.0
--
-- The second prelude of the scripts of Redlock, after that of leases: whether this server may vote.
-- What it looks at has been read by redlock_start.lua.
--
-- KEYS       3 the epoch E
-- C          here a hash: the last token of each bucket, decimal, no leading zeros. Never with a TTL
-- E          a hash, never with a TTL: r run id of the server, f fingerprint of the group, w since
--            when (server ms) a run without memory waits to be readmitted. r and f together mean
--            that this run of this server may vote in this group
-- Invariant  What a server said in another run it can't be bound to: it does not vote until it has
--            been readmitted, whatever data it came up with

if failed(server) then
  raise(server)
end
if failed(epoch) then
  raise(epoch)
end

local run = votes_for and epoch[1]
if not run then
  local run_from, run_to = find(server, 'run_id:[0-9a-f]+')
  run = run_from and sub(server, run_from + 7, run_to) or ''
end

-- Whether this server votes: VOTING, AMNESIA (it does not remember), FOREIGN (of another group).
local function standing(fingerprint)
  if epoch[2] and epoch[2] ~= fingerprint then
    return 'FOREIGN'
  end
  if run == '' or epoch[1] ~= run or not epoch[2] then
    return 'AMNESIA'
  end
  return 'VOTING'
end

-- A token without leading zeros, which HINCRBY would refuse.
local function bare(text)
  return sub(text, find(text, '[1-9]') or TOKEN_DIGITS)
end
