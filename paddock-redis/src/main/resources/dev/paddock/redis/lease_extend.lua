-- LEASE_EXTEND: makes a lease last its full length from now.
--
-- KEYS       1 L, 2 C
-- ARGV       1 owner, 2 lease ms
-- Reply      status (EXTENDED, LOST), now
-- Invariant  Only the owner's own lease; never shorter, never a new one, the same token. Never
--            refused under OOM.

local owner, lease_millis = ARGV[1], number(ARGV[2])

if lease().owner ~= owner then
  return {'LOST', decimal(now, 16)}
end
keep(lease_millis)
return {'EXTENDED', decimal(now, 16)}
