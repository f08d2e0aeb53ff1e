// A disk that hangs: while the file HANG_WHILE exists, writes to a file whose path holds HANG_PATH do not return. Preload it.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is_meant(int fd) {
  const char *part = getenv("HANG_PATH");
  char link[64], path[4096];
  snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, path, sizeof path - 1);
  if (length <= 0 || !part) return 0;
  path[length] = 0;
  return strstr(path, part) != NULL;
}

ssize_t write(int fd, const void *bytes, size_t count) {
  static ssize_t (*real)(int, const void *, size_t);
  if (!real) real = (ssize_t(*)(int, const void *, size_t))dlsym(RTLD_NEXT, "write");
  int before = errno;
  const char *hangs = getenv("HANG_WHILE");
  if (hangs && access(hangs, F_OK) == 0 && is_meant(fd))
    while (access(hangs, F_OK) == 0) usleep(1000);
  errno = before;
  return real(fd, bytes, count);
}
