// Measures stdio on Windows, or under Wine. One program, three roles:
// windows serve                       a server that answers a line with a line, as fast as C allows
// windows pass COMMAND                starts COMMAND between two threads that copy bytes: what any proxy costs
// windows drive N WINDOW BYTES COMMAND    sends N requests of BYTES with WINDOW in flight, prints one line of JSON
#include <windows.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static HANDLE to_child, from_child;
static double now(void) {
  LARGE_INTEGER count, rate;
  QueryPerformanceCounter(&count);
  QueryPerformanceFrequency(&rate);
  return (double)count.QuadPart / (double)rate.QuadPart;
}
static void fail(const char *what) {
  fprintf(stderr, "%s: error %lu\n", what, GetLastError());
  exit(3);
}
static BOOL put(HANDLE to, const char *bytes, size_t count) {
  DWORD written;
  for (; count; bytes += written, count -= written)
    if (!WriteFile(to, bytes, (DWORD)count, &written, NULL)) return FALSE;
  return TRUE;
}
static HANDLE start(char *command) {
  SECURITY_ATTRIBUTES inherited = {sizeof inherited, NULL, TRUE};
  STARTUPINFOA with = {0};
  PROCESS_INFORMATION child;
  with.cb = sizeof with;
  with.dwFlags = STARTF_USESTDHANDLES;
  with.hStdError = GetStdHandle(STD_ERROR_HANDLE);
  if (!CreatePipe(&with.hStdInput, &to_child, &inherited, 1 << 16)) fail("pipe");
  if (!CreatePipe(&from_child, &with.hStdOutput, &inherited, 1 << 16)) fail("pipe");
  SetHandleInformation(to_child, HANDLE_FLAG_INHERIT, 0);
  SetHandleInformation(from_child, HANDLE_FLAG_INHERIT, 0);
  if (!CreateProcessA(NULL, command, NULL, NULL, TRUE, 0, NULL, NULL, &with, &child)) fail(command);
  CloseHandle(with.hStdInput);
  CloseHandle(with.hStdOutput);
  CloseHandle(child.hThread);
  return child.hProcess;
}
static void copy(HANDLE from, HANDLE to) {
  char *buffer = malloc(1 << 18);
  DWORD count;
  while (ReadFile(from, buffer, 1 << 18, &count, NULL) && count && put(to, buffer, count)) {}
}
static DWORD WINAPI copy_input(void *unused) {
  (void)unused;
  copy(GetStdHandle(STD_INPUT_HANDLE), to_child);
  CloseHandle(to_child);
  return 0;
}
static int pass(char *command) {
  HANDLE child = start(command);
  DWORD status = 0;
  CreateThread(NULL, 0, copy_input, NULL, 0, NULL);
  copy(from_child, GetStdHandle(STD_OUTPUT_HANDLE));
  WaitForSingleObject(child, INFINITE);
  GetExitCodeProcess(child, &status);
  ExitProcess(status);
}
static int serve(void) {
  size_t have = 0, room = 1 << 20;
  char *buffer = malloc(room), *out = malloc(1 << 20);
  DWORD count;
  for (;;) {
    if (have == room) buffer = realloc(buffer, room *= 2);
    if (!ReadFile(GetStdHandle(STD_INPUT_HANDLE), buffer + have, (DWORD)(room - have), &count, NULL) || !count) return 0;
    have += count;
    char *line = buffer, *end;
    size_t filled = 0;
    while ((end = memchr(line, '\n', (size_t)(buffer + have - line)))) {
      *end = 0;
      char *id = strstr(line, "\"id\":");
      if (id) filled += (size_t)sprintf(out + filled, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"result\":{\"content\":[]}}\n", atol(id + 5));
      line = end + 1;
      if (filled > 900000) { put(GetStdHandle(STD_OUTPUT_HANDLE), out, filled); filled = 0; }
    }
    if (!put(GetStdHandle(STD_OUTPUT_HANDLE), out, filled)) return 0;
    have -= (size_t)(line - buffer);
    memmove(buffer, line, have);
  }
}
static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return x < y ? -1 : x > y;
}
static int drive(long count, long window, long bytes, char *command) {
  HANDLE child = start(command);
  char *pad = malloc((size_t)bytes + 1), *request = malloc((size_t)bytes + 256), *buffer = malloc(1 << 22);
  double *took = malloc(sizeof *took * (size_t)count), *sent = malloc(sizeof *sent * (size_t)(count + 1)), began = 0;
  long asked = 0, answered = 0;
  size_t have = 0;
  DWORD more, status = 0;
  memset(pad, 'y', (size_t)bytes);
  pad[bytes] = 0;
  while (answered < count) {
    while (asked < count && asked - answered < window) {
      asked++;
      int length = sprintf(request, "{\"jsonrpc\":\"2.0\",\"id\":%ld,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{\"msg\":\"%s\"}}}\n", asked, pad);
      sent[asked] = now();
      if (!put(to_child, request, (size_t)length)) fail("write");
    }
    if (!ReadFile(from_child, buffer + have, (DWORD)((1 << 22) - have), &more, NULL) || !more) fail("read");
    have += more;
    char *line = buffer, *end;
    while ((end = memchr(line, '\n', (size_t)(buffer + have - line)))) {
      char *id = strstr(line, "\"id\":");
      long number = id && id < end ? atol(id + 5) : 0;
      // The first answer includes the start of all processes.
      if (number >= 1 && number <= count) took[answered++] = now() - sent[number];
      if (answered == 1) began = now();
      line = end + 1;
    }
    have -= (size_t)(line - buffer);
    memmove(buffer, line, have);
  }
  double spent = now() - began, first = took[0] * 1e3, closed = now();
  CloseHandle(to_child);
  WaitForSingleObject(child, INFINITE);
  double ended = (now() - closed) * 1e3;
  GetExitCodeProcess(child, &status);
  qsort(took, (size_t)count, sizeof *took, compare);
  printf("{\"first_ms\":%.1f,\"p50_us\":%.1f,\"p99_us\":%.1f,\"per_s\":%.0f,\"end_ms\":%.1f,\"status\":%lu}\n", first,
         took[count / 2] * 1e6, took[count * 99 / 100] * 1e6, (double)(count - 1) / spent, ended, status);
  return 0;
}
int main(int count, char **words) {
  if (count == 2 && !strcmp(words[1], "serve")) return serve();
  if (count == 3 && !strcmp(words[1], "pass")) return pass(words[2]);
  if (count == 6 && !strcmp(words[1], "drive")) return drive(atol(words[2]), atol(words[3]), atol(words[4]), words[5]);
  return 2;
}
