/* Presses Ctrl-C in the console of another process, which each process can only do in its own: interrupt.exe PID */
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

static BOOL WINAPI unmoved(DWORD event) {
  (void)event;
  return TRUE;
}

int main(int count, char **words) {
  if (count != 2) return 2;
  FreeConsole();
  if (!AttachConsole(strtoul(words[1], NULL, 10))) {
    fprintf(stderr, "no console of %s: error %lu\n", words[1], GetLastError());
    return 1;
  }
  SetConsoleCtrlHandler(unmoved, TRUE);
  if (!GenerateConsoleCtrlEvent(CTRL_C_EVENT, 0)) {
    fprintf(stderr, "no Ctrl-C: error %lu\n", GetLastError());
    return 1;
  }
  return 0;
}
