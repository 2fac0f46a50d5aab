// Lets calls into the C library fail as a machine in trouble lets them: loaded by LD_PRELOAD into the program that
// IAP_FAULT_PROGRAM names, from the beginning of its main on.
//   IAP_FAULT=KIND:N     the N-th call of that kind fails; KIND:N+ this one and all after it
//   IAP_FAULT=space:N    the disk is full after N more bytes
//   IAP_FAULT=clock:N+   from the N-th look at the clock on, it is a day earlier
//   IAP_FAULT_NOTES=F    the file F gets a line for each fsync and rename, in their order, with the paths
//   IAP_FAULT_COUNTS=F   the file F gets, as 8 bytes each, how often each kind was called (in the order of `names`)
// What the program writes to its standard streams is left alone.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum Kind {
  memory,
  writing,
  shorter,
  reading,
  syncing,
  renaming,
  opening,
  making,
  mapping,
  starting,
  space,
  clocked,
  looking,
  kinds
};
static const char* const names[kinds] = {"memory", "write", "short",  "read",  "sync",  "rename", "open",
                                         "mkdir",  "map",   "thread", "space", "clock", "stat"};

static _Atomic int armed;
static enum Kind failing = kinds;
static uint64_t first, last;
static _Atomic uint64_t own_counts[kinds];
static _Atomic uint64_t* counts = own_counts;
static int notes = -1;

// Whether this call of `kind` is one that fails.
static int fails(enum Kind kind) {
  if (!atomic_load_explicit(&armed, memory_order_relaxed)) return 0;
  const uint64_t number = atomic_fetch_add(&counts[kind], 1) + 1;
  return kind == failing && number >= first && number <= last;
}

static void arm(void) {
  const char* program = getenv("IAP_FAULT_PROGRAM");
  if (!program || strcmp(program, program_invocation_short_name) != 0) return;
  const char* file = getenv("IAP_FAULT_COUNTS");
  if (file) {
    const int descriptor = (int)syscall(SYS_openat, AT_FDCWD, file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (descriptor >= 0 && syscall(SYS_ftruncate, descriptor, sizeof own_counts) == 0) {
      const long shared = syscall(SYS_mmap, NULL, sizeof own_counts, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0L);
      if (shared != -1) counts = (_Atomic uint64_t*)shared;
    }
    if (descriptor >= 0) syscall(SYS_close, descriptor);
  }
  const char* noted = getenv("IAP_FAULT_NOTES");
  if (noted) notes = (int)syscall(SYS_openat, AT_FDCWD, noted, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
  const char* fault = getenv("IAP_FAULT");
  for (int kind = 0; fault && kind < kinds; ++kind) {
    const size_t length = strlen(names[kind]);
    if (strncmp(fault, names[kind], length) != 0 || fault[length] != ':') continue;
    char* end;
    first = strtoull(fault + length + 1, &end, 10);
    last = *end == '+' ? UINT64_MAX : first;
    failing = (enum Kind)kind;
  }
  atomic_store(&armed, 1);
}

static int (*own_main)(int, char**, char**);
static int armed_main(int count, char** words, char** environment) {
  arm();
  return own_main(count, words, environment);
}

#define NEXT(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
// The next library's function, looked up once.
#define REAL(name)                 \
  ({                               \
    static __typeof__(&name) real; \
    if (!real) real = NEXT(name);  \
    real;                          \
  })

int __libc_start_main(int (*main)(int, char**, char**), int count, char** words, void (*init)(void), void (*fini)(void),
                      void (*linker_fini)(void), void* stack_end) {
  int (*real)(int (*)(int, char**, char**), int, char**, void (*)(void), void (*)(void), void (*)(void), void*);
  *(void**)&real = dlsym(RTLD_NEXT, "__libc_start_main");
  own_main = main;
  return real(armed_main, count, words, init, fini, linker_fini, stack_end);
}

static int fail(int number) {
  errno = number;
  return -1;
}

// Memory. dlsym allocates, so that glibc's own names are called.
void* __libc_malloc(size_t size);
void* __libc_calloc(size_t count, size_t size);
void* __libc_realloc(void* old, size_t size);
void* __libc_memalign(size_t alignment, size_t size);

void* malloc(size_t size) {
  if (!fails(memory)) return __libc_malloc(size);
  errno = ENOMEM;
  return NULL;
}
void* calloc(size_t count, size_t size) {
  if (!fails(memory)) return __libc_calloc(count, size);
  errno = ENOMEM;
  return NULL;
}
void* realloc(void* old, size_t size) {
  if (size == 0 || !fails(memory)) return __libc_realloc(old, size);
  errno = ENOMEM;
  return NULL;
}
void* memalign(size_t alignment, size_t size) {
  if (!fails(memory)) return __libc_memalign(alignment, size);
  errno = ENOMEM;
  return NULL;
}
void* aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }
int posix_memalign(void** result, size_t alignment, size_t size) {
  void* block = memalign(alignment, size);
  if (!block) return ENOMEM;
  *result = block;
  return 0;
}

void* mmap(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  if (fails(mapping)) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  return REAL(mmap)(address, size, protection, flags, descriptor, offset);
}
void* mmap64(void* address, size_t size, int protection, int flags, int descriptor, off_t offset) {
  return mmap(address, size, protection, flags, descriptor, offset);
}

int pthread_create(pthread_t* thread, const pthread_attr_t* attributes, void* (*body)(void*), void* argument) {
  return fails(starting) ? EAGAIN : REAL(pthread_create)(thread, attributes, body, argument);
}

// How many of `size` bytes for `descriptor` are taken; -1 with errno for a call that fails.
static ssize_t room(int descriptor, size_t size) {
  if (descriptor <= STDERR_FILENO) return (ssize_t)size;
  if (fails(writing)) return fail(EIO);
  if (fails(shorter) && size > 1) size /= 2;
  if (!atomic_load(&armed)) return (ssize_t)size;
  const uint64_t before = atomic_fetch_add(&counts[space], size);
  if (failing != space || before + size <= first) return (ssize_t)size;
  return before < first ? (ssize_t)(first - before) : fail(ENOSPC);
}

ssize_t write(int descriptor, const void* bytes, size_t size) {
  const ssize_t taken = room(descriptor, size);
  return taken < 0 ? taken : REAL(write)(descriptor, bytes, (size_t)taken);
}
ssize_t pwrite(int descriptor, const void* bytes, size_t size, off_t offset) {
  const ssize_t taken = room(descriptor, size);
  return taken < 0 ? taken : REAL(pwrite)(descriptor, bytes, (size_t)taken, offset);
}
ssize_t pwrite64(int descriptor, const void* bytes, size_t size, off_t offset) { return pwrite(descriptor, bytes, size, offset); }
ssize_t writev(int descriptor, const struct iovec* parts, int count) {
  if (descriptor <= STDERR_FILENO) return REAL(writev)(descriptor, parts, count);
  // A system may take one part alone.
  for (int i = 0; i < count; ++i)
    if (parts[i].iov_len > 0) return write(descriptor, parts[i].iov_base, parts[i].iov_len);
  return 0;
}

ssize_t read(int descriptor, void* bytes, size_t size) {
  return descriptor > STDERR_FILENO && fails(reading) ? fail(EIO) : REAL(read)(descriptor, bytes, size);
}

static void note(const char* call, const char* path, const char* other) {
  char line[2 * PATH_MAX + 16];
  if (notes >= 0) syscall(SYS_write, notes, line, (size_t)snprintf(line, sizeof line, "%s %s %s\n", call, path, other));
}

int fsync(int descriptor) {
  char link[32], path[PATH_MAX] = "";
  snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
  if (readlink(link, path, sizeof path - 1) > 0) note("fsync", path, "");
  return fails(syncing) ? fail(EIO) : REAL(fsync)(descriptor);
}
int fdatasync(int descriptor) { return fails(syncing) ? fail(EIO) : REAL(fdatasync)(descriptor); }

int rename(const char* from, const char* to) {
  note("rename", from, to);
  return fails(renaming) ? fail(EIO) : REAL(rename)(from, to);
}
int link(const char* from, const char* to) { return fails(renaming) ? fail(EIO) : REAL(link)(from, to); }

int mkdir(const char* path, mode_t mode) { return fails(making) ? fail(ENOSPC) : REAL(mkdir)(path, mode); }
int mkdirat(int folder, const char* path, mode_t mode) { return fails(making) ? fail(ENOSPC) : REAL(mkdirat)(folder, path, mode); }

int stat(const char* path, struct stat* found) { return fails(looking) ? fail(EIO) : REAL(stat)(path, found); }
int lstat(const char* path, struct stat* found) { return fails(looking) ? fail(EIO) : REAL(lstat)(path, found); }
int stat64(const char* path, struct stat64* found) { return fails(looking) ? fail(EIO) : REAL(stat64)(path, found); }
int lstat64(const char* path, struct stat64* found) { return fails(looking) ? fail(EIO) : REAL(lstat64)(path, found); }

static mode_t mode_of(int flags, va_list more) { return flags & (O_CREAT | __O_TMPFILE) ? va_arg(more, mode_t) : 0; }

int open(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(opening) ? fail(EMFILE) : (int)syscall(SYS_openat, AT_FDCWD, path, flags, mode);
}
int open64(const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return open(path, flags, mode);
}
int openat(int folder, const char* path, int flags, ...) {
  va_list more;
  va_start(more, flags);
  const mode_t mode = mode_of(flags, more);
  va_end(more);
  return fails(opening) ? fail(EMFILE) : (int)syscall(SYS_openat, folder, path, flags, mode);
}
FILE* fopen(const char* path, const char* how) {
  if (!fails(opening)) return REAL(fopen)(path, how);
  errno = EMFILE;
  return NULL;
}
FILE* fopen64(const char* path, const char* how) { return fopen(path, how); }

int clock_gettime(clockid_t clock, struct timespec* now) {
  const int result = REAL(clock_gettime)(clock, now);
  if (result == 0 && clock == CLOCK_REALTIME && fails(clocked)) now->tv_sec -= 86400;
  return result;
}
time_t time(time_t* result) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  if (result) *result = now.tv_sec;
  return now.tv_sec;
}
