// Loaded into a process with LD_PRELOAD. Of the calls that write, sync or truncate a file whose path contains
// FAIL_PATH, number FAIL_AT fails with the error number FAIL_ERRNO. Creates the file FAIL_MARK when it does.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

static atomic_int calls;

static int is_due(int fd) {
  const char *path = getenv("FAIL_PATH");
  if (path == NULL) return 0;
  char link[64], found[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, found, sizeof found - 1);
  if (length < 0) return 0;
  found[length] = 0;
  if (strstr(found, path) == NULL) return 0;
  if (atomic_fetch_add(&calls, 1) + 1 != atoi(getenv("FAIL_AT"))) return 0;
  int mark = open(getenv("FAIL_MARK"), O_CREAT | O_WRONLY, 0600);
  if (mark >= 0) close(mark);
  errno = atoi(getenv("FAIL_ERRNO"));
  return 1;
}

#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
#define FAILING(type, name, params, args) \
  type name params { \
    if (is_due(fd)) return -1; \
    return REAL(name) args; \
  }

FAILING(ssize_t, write, (int fd, const void *from, size_t size), (fd, from, size))
FAILING(ssize_t, pwrite, (int fd, const void *from, size_t size, off_t at), (fd, from, size, at))
FAILING(ssize_t, pwrite64, (int fd, const void *from, size_t size, off64_t at), (fd, from, size, at))
FAILING(ssize_t, writev, (int fd, const struct iovec *from, int count), (fd, from, count))
FAILING(ssize_t, pwritev, (int fd, const struct iovec *from, int count, off_t at), (fd, from, count, at))
FAILING(ssize_t, pwritev64, (int fd, const struct iovec *from, int count, off64_t at), (fd, from, count, at))
FAILING(int, fsync, (int fd), (fd))
FAILING(int, fdatasync, (int fd), (fd))
FAILING(int, ftruncate, (int fd, off_t size), (fd, size))
FAILING(int, ftruncate64, (int fd, off64_t size), (fd, size))
