-- What this process holds: memory in MiB, and its open files. Memory is what the machine sees, so that the allocator must give back what is
-- freed: GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.mmap_threshold=65536:glibc.malloc.trim_threshold=65536
return function()
  local status <close> = io.open("/proc/self/status")
  local kib = tonumber(status:read("a"):match("VmRSS:%s*(%d+)"))
  local handles = -1 -- without that of the status
  for number = 0, 1023 do
    local file = io.open("/proc/self/fdinfo/" .. number)
    if file then
      handles = handles + 1
      file:close()
    end
  end
  return { memory = kib / 1024, handles = handles }
end
