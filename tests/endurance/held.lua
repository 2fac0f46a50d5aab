-- What this process holds: memory in MiB, and its open files.
local stat <close> = io.open("/proc/self/stat")
local pid = stat:read("n")

return function()
  local status = io.open("/proc/self/status")
  local kib = tonumber(status:read("a"):match("VmRSS:%s*(%d+)"))
  status:close()
  local list = io.popen("ls /proc/" .. pid .. "/fd | wc -l")
  local handles = list:read("n")
  list:close()
  return { memory = kib / 1024, handles = handles }
end
