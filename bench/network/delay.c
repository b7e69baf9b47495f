// A TCP proxy on this machine that forwards everything a fixed time later, each way: delay TARGET_PORT MICROSECONDS
// It prints the port on which it listens, and ends when its input ends.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { chunk_bytes = 64 * 1024 };

struct chunk {
  struct chunk *next;
  int64_t due;
  ssize_t length;
  char bytes[];
};

// One direction of a connection, and the thread that forwards it.
struct direction {
  int from, to;
  pthread_t thread;
};

static int64_t delay_ns;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

// Whatever can be read is read at once, while earlier chunks still wait: the delay limits no throughput.
static struct chunk *read_chunk(int from) {
  static __thread char bytes[chunk_bytes];
  ssize_t length = recv(from, bytes, chunk_bytes, 0);
  if (length <= 0) return NULL;
  struct chunk *chunk = malloc(sizeof *chunk + length);
  *chunk = (struct chunk){.due = now() + delay_ns, .length = length};
  memcpy(chunk->bytes, bytes, length);
  return chunk;
}

// A reader that is slow holds up its own direction only.
static int write_chunk(int to, struct chunk *chunk) {
  for (ssize_t written = 0; written < chunk->length;) {
    ssize_t more = send(to, chunk->bytes + written, chunk->length - written, MSG_NOSIGNAL);
    if (more < 0) return 0;
    written += more;
  }
  return 1;
}

static void *forward(void *given) {
  struct direction *direction = given;
  // Otherwise the kernel may let a timer be 50 microseconds late.
  prctl(PR_SET_TIMERSLACK, 1);
  struct chunk *first = NULL, **end = &first;
  int is_open = 1;
  while (is_open || first) {
    struct pollfd readable = {.fd = is_open ? direction->from : -1, .events = POLLIN};
    int64_t left = first ? first->due - now() : 0;
    if (left < 0) left = 0;
    struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    ppoll(&readable, 1, first ? &wait : NULL, NULL);
    if (readable.revents) {
      struct chunk *chunk = read_chunk(direction->from);
      if (chunk) {
        *end = chunk;
        end = &chunk->next;
      } else is_open = 0;
    }
    while (first && first->due <= now()) {
      struct chunk *chunk = first;
      if (!write_chunk(direction->to, chunk)) is_open = 0;
      first = chunk->next;
      if (!first) end = &first;
      free(chunk);
    }
  }
  shutdown(direction->to, SHUT_WR);
  return NULL;
}

static void *serve(void *given) {
  struct direction *there = given;
  struct direction back = {.from = there->to, .to = there->from};
  pthread_create(&back.thread, NULL, forward, &back);
  forward(there);
  pthread_join(back.thread, NULL);
  close(there->from);
  close(there->to);
  free(there);
  return NULL;
}

static void *end_with_input(void *unused) {
  while (getchar() != EOF);
  exit(0);
}

static void start_thread(void *(*run)(void *), void *given) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, given);
  pthread_detach(thread);
}

int main(int count, char **given) {
  if (count != 3) return 2;
  delay_ns = atoll(given[2]) * 1000;
  struct sockaddr_in target = {.sin_family = AF_INET, .sin_port = htons(atoi(given[1]))};
  struct sockaddr_in own = {.sin_family = AF_INET};
  target.sin_addr.s_addr = own.sin_addr.s_addr = htonl(INADDR_LOOPBACK);

  int listener = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t length = sizeof own;
  if (bind(listener, (void *)&own, length) || listen(listener, 128)) return 1;
  getsockname(listener, (void *)&own, &length);
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);
  start_thread(end_with_input, NULL);

  for (;;) {
    struct direction *there = calloc(1, sizeof *there);
    there->from = accept(listener, NULL, NULL);
    there->to = socket(AF_INET, SOCK_STREAM, 0);
    if (connect(there->to, (void *)&target, sizeof target)) {
      close(there->from);
      close(there->to);
      free(there);
      continue;
    }
    setsockopt(there->from, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    setsockopt(there->to, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    start_thread(serve, there);
  }
}
