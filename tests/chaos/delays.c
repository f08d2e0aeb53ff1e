// Delays some of a program's system calls, so that what happens seldom on a quiet machine happens often: preload it.
//
// DELAYS_PER_MILLE of the calls (default 20) take up to DELAYS_US microseconds longer (default 20000). Which ones, chance
// decides; DELAYS_SEED repeats a run as far as its threads let it. See .ci/chaos.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static long setting(const char *name, long otherwise) {
  const char *text = getenv(name);
  return text ? atol(text) : otherwise;
}

static long per_mille, most_us;
static uint64_t seed;

__attribute__((constructor)) static void begin(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  per_mille = setting("DELAYS_PER_MILLE", 20);
  most_us = setting("DELAYS_US", 20000);
  seed = (uint64_t)setting("DELAYS_SEED", now.tv_nsec ^ ((long)getpid() << 20));
}

// xorshift64*, one state for each thread.
static uint64_t chance(void) {
  static __thread uint64_t state;
  if (!state) state = (seed + (uint64_t)syscall(SYS_gettid)) * 0x9e3779b97f4a7c15u | 1;
  state ^= state >> 12, state ^= state << 25, state ^= state >> 27;
  return state * 0x2545f4914f6cdd1du >> 11;
}

static void delay(void) {
  if ((long)(chance() % 1000) >= per_mille || most_us <= 0) return;
  int before = errno;
  long us = (long)(chance() % (uint64_t)most_us);
  struct timespec time = {us / 1000000, us % 1000000 * 1000};
  nanosleep(&time, NULL);
  errno = before;
}

// A call is delayed before it is made, and after it: what it was told may be old by then.
#define DELAYED(result, name, parameters, ...)                          \
  result name parameters {                                              \
    static result(*real) parameters;                                    \
    if (!real) real = (result(*) parameters)dlsym(RTLD_NEXT, #name);    \
    delay();                                                            \
    result got = real(__VA_ARGS__);                                     \
    delay();                                                            \
    return got;                                                         \
  }

DELAYED(ssize_t, read, (int fd, void *to, size_t size), fd, to, size)
DELAYED(ssize_t, write, (int fd, const void *from, size_t size), fd, from, size)
DELAYED(ssize_t, readv, (int fd, const struct iovec *to, int count), fd, to, count)
DELAYED(ssize_t, writev, (int fd, const struct iovec *from, int count), fd, from, count)
DELAYED(ssize_t, recv, (int fd, void *to, size_t size, int flags), fd, to, size, flags)
DELAYED(ssize_t, send, (int fd, const void *from, size_t size, int flags), fd, from, size, flags)
DELAYED(int, accept4, (int fd, struct sockaddr *who, socklen_t *size, int flags), fd, who, size, flags)
DELAYED(int, connect, (int fd, const struct sockaddr *who, socklen_t size), fd, who, size)
DELAYED(int, shutdown, (int fd, int how), fd, how)
DELAYED(int, close, (int fd), fd)
DELAYED(int, poll, (struct pollfd * all, nfds_t count, int ms), all, count, ms)
DELAYED(int, epoll_wait, (int fd, struct epoll_event *all, int count, int ms), fd, all, count, ms)
DELAYED(pid_t, waitpid, (pid_t who, int *status, int options), who, status, options)
