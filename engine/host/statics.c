/* The library's static objects stay until the process has ended: exit() in one thread of a host would destroy them while others are
 * still in calls. The linker has this called in place of __cxa_atexit (--wrap), with which the compiler registers each of them. It
 * does not reach into TBB and MuJoCo, whose objects exit() destroys as before. */
int __wrap___cxa_atexit(void (*destroy)(void*), void* object, void* library) {
  (void)destroy;
  (void)object;
  (void)library;
  return 0;
}
