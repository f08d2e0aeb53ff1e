// The upstream and the client of the HTTP measurements that wrk cannot make.
//
//   sse serve PORT EVENTS GAP_US   GET /sse: EVENTS events of 100 bytes, GAP_US apart, each with the time it was sent
//                                  GET /idle: a head, one event, then nothing
//                                  GET /big: 100 MB; POST: the body is read, and answered with a small result
//   sse read PORT                  reads /sse and prints how long the events took, as one line of JSON
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { EVENT = 100, BIG = 100 * 1000 * 1000, BLOCK = 1 << 18 };
static int events, gap_us;

static long long now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static int put(int fd, const char *text, size_t size) {
    for (size_t done = 0; done < size;) {
        ssize_t count = write(fd, text + done, size - done);
        if (count <= 0) return -1;
        done += count;
    }
    return 0;
}

static int say(int fd, const char *text) { return put(fd, text, strlen(text)); }

static struct sockaddr_in at(int port) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(port)};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    return address;
}

#define STREAM "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"

// One chunk with one event: `data: {"t":NANOSECONDS,"x":"…"}` and a blank line, EVENT bytes long.
static int event(int fd) {
    char text[EVENT + 1], chunk[EVENT + 16];
    int length = snprintf(text, sizeof text, "data: {\"t\":%lld,\"x\":\"", now());
    memset(text + length, 'x', EVENT - length);
    memcpy(text + EVENT - 4, "\"}\n\n", 4);
    text[EVENT] = 0;
    return put(fd, chunk, snprintf(chunk, sizeof chunk, "%x\r\n%s\r\n", EVENT, text));
}

static void sse(int fd) {
    say(fd, STREAM);
    for (int i = 0; i < events; i++) {
        usleep(gap_us);
        if (event(fd)) return;
    }
    say(fd, "0\r\n\r\n");
}

static void idle(int fd) {
    char byte;
    say(fd, STREAM);
    event(fd);
    while (read(fd, &byte, 1) > 0) {}
}

static void big(int fd) {
    char *block = malloc(BLOCK), head[128];
    memset(block, 'b', BLOCK);
    sprintf(head, "HTTP/1.1 200 OK\r\nContent-Type: application/octet-stream\r\nContent-Length: %d\r\n\r\n", BIG);
    say(fd, head);
    for (size_t left = BIG; left;) {
        size_t size = left < BLOCK ? left : BLOCK;
        if (put(fd, block, size)) break;
        left -= size;
    }
    free(block);
}

#define RESULT "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}"

static void *serve(void *given) {
    int fd = (int)(long)given;
    size_t cap = BLOCK, len = 0;
    char *buf = malloc(cap + 1);
    for (;;) {
        char *end;
        buf[len] = 0;
        while (!(end = strstr(buf, "\r\n\r\n"))) {
            ssize_t count = len < cap ? read(fd, buf + len, cap - len) : 0;
            if (count <= 0) goto over;
            len += count;
            buf[len] = 0;
        }
        char *length = strcasestr(buf, "\r\ncontent-length:");
        size_t body = length && length < end ? strtoul(length + 17, 0, 10) : 0, got = len - (end + 4 - buf);
        if (!strncmp(buf, "GET /sse", 8)) { sse(fd); break; }
        else if (!strncmp(buf, "GET /idle", 9)) { idle(fd); break; }
        else if (!strncmp(buf, "GET /big", 8)) big(fd);
        else {
            while (got < body) {
                ssize_t count = read(fd, buf, cap);
                if (count <= 0) goto over;
                got += count;
            }
            char answer[256];
            sprintf(answer, "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %zu\r\n\r\n" RESULT, strlen(RESULT));
            if (say(fd, answer)) break;
        }
        len = 0;
    }
over:
    free(buf);
    close(fd);
    return 0;
}

static int server(int port) {
    int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);
    struct sockaddr_in address = at(port);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(listener, (struct sockaddr *)&address, sizeof address) || listen(listener, 4096)) return perror("listen"), 1;
    pthread_attr_t small;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, 1 << 18);
    for (;;) {
        int fd = accept(listener, 0, 0);
        pthread_t thread;
        if (fd < 0) continue;
        setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
        if (pthread_create(&thread, &small, serve, (void *)(long)fd)) close(fd);
        else pthread_detach(thread);
    }
}

static int ascending(const void *a, const void *b) {
    double x = *(double *)a, y = *(double *)b;
    return x < y ? -1 : x > y;
}

static int reader(int port) {
    static char buf[1 << 20];
    static double took[1 << 20];
    int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1, count = 0;
    struct sockaddr_in address = at(port);
    if (connect(fd, (struct sockaddr *)&address, sizeof address)) return perror("connect"), 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    sprintf(buf, "GET /sse HTTP/1.1\r\nHost: 127.0.0.1:%d\r\nAccept: text/event-stream\r\nConnection: close\r\n\r\n", port);
    say(fd, buf);
    size_t len = 0;
    ssize_t more;
    while ((more = read(fd, buf + len, sizeof buf - 1 - len)) > 0) {
        long long at = now();
        len += more;
        buf[len] = 0;
        char *from = buf, *found, *end;
        while ((found = strstr(from, "\"t\":")) && (end = strchr(found, '}'))) {
            took[count++] = (at - atoll(found + 4)) / 1e3;
            from = end;
        }
        len -= from - buf;
        memmove(buf, from, len);
    }
    if (!count) return fprintf(stderr, "no event\n"), 1;
    qsort(took, count, sizeof *took, ascending);
    printf("{\"events\":%d,\"p50_us\":%.1f,\"p99_us\":%.1f}\n", count, took[count / 2], took[count * 99 / 100]);
    return 0;
}

int main(int argc, char **argv) {
    signal(SIGPIPE, SIG_IGN);
    if (argc > 4 && !strcmp(argv[1], "serve")) {
        events = atoi(argv[3]);
        gap_us = atoi(argv[4]);
        return server(atoi(argv[2]));
    }
    if (argc > 2 && !strcmp(argv[1], "read")) return reader(atoi(argv[2]));
    return fprintf(stderr, "usage: sse serve PORT EVENTS GAP_US | sse read PORT\n"), 2;
}
