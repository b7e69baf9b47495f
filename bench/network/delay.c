// A TCP proxy on this machine that forwards everything a fixed time later, each way: delay TARGET_PORT MICROSECONDS
// It prints the port on which it listens, and ends when its input ends.
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum { chunk_bytes = 64 * 1024, most_events = 64, retry_ns = 50000 };

// One end of a connection through this proxy.
struct end {
  int fd, is_over;
  struct end *other;
};

// What waits until it is due. Without bytes it is the end of what comes from the other side.
struct chunk {
  struct chunk *next;
  struct end *to;
  int64_t due;
  ssize_t length, written;
  char bytes[];
};

static int64_t delay_ns;
static int epoll;
static struct sockaddr_in target;

// All chunks wait equally long, so one queue has them in the order in which they are due.
static struct chunk *first, **last = &first;

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * INT64_C(1000000000) + time.tv_nsec;
}

static void watch(int fd, void *what) {
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = what};
  epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void connect_through(int client) {
  int server = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(server, (void *)&target, sizeof target)) {
    close(client);
    close(server);
    return;
  }
  struct end *ends[] = {malloc(sizeof(struct end)), malloc(sizeof(struct end))};
  *ends[0] = (struct end){.fd = client, .other = ends[1]};
  *ends[1] = (struct end){.fd = server, .other = ends[0]};
  for (int i = 0; i < 2; i++) {
    setsockopt(ends[i]->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    watch(ends[i]->fd, ends[i]);
  }
}

// It is read at once, while earlier chunks still wait: the delay limits no throughput.
static void read_from(struct end *from) {
  static char bytes[chunk_bytes];
  ssize_t length = recv(from->fd, bytes, chunk_bytes, MSG_DONTWAIT);
  if (length <= 0) {
    epoll_ctl(epoll, EPOLL_CTL_DEL, from->fd, NULL);
    length = 0;
  }
  struct chunk *chunk = malloc(sizeof *chunk + length);
  *chunk = (struct chunk){.to = from->other, .due = now() + delay_ns, .length = length};
  memcpy(chunk->bytes, bytes, length);
  *last = chunk;
  last = &chunk->next;
}

static void end_stream(struct end *to) {
  shutdown(to->fd, SHUT_WR);
  to->is_over = 1;
  if (!to->other->is_over) return;
  close(to->fd);
  close(to->other->fd);
  free(to->other);
  free(to);
}

// False when its receiver has no room at the moment. A receiver that is gone gets nothing.
static int is_written(struct chunk *chunk) {
  while (chunk->written < chunk->length) {
    ssize_t more = send(chunk->to->fd, chunk->bytes + chunk->written, chunk->length - chunk->written,
                        MSG_DONTWAIT | MSG_NOSIGNAL);
    if (more < 0) return errno != EAGAIN;
    chunk->written += more;
  }
  return 1;
}

// Returns in how many nanoseconds there is more to write.
static int64_t write_due(void) {
  for (int64_t left; first;) {
    struct chunk *chunk = first;
    if ((left = chunk->due - now()) > 0) return left;
    if (chunk->length == 0) end_stream(chunk->to);
    else if (!is_written(chunk)) return retry_ns;
    first = chunk->next;
    if (!first) last = &first;
    free(chunk);
  }
  return -1;
}

int main(int count, char **given) {
  if (count != 3) return 2;
  delay_ns = atoll(given[2]) * 1000;
  struct sockaddr_in own = target = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
  target.sin_port = htons(atoi(given[1]));
  int listener = socket(AF_INET, SOCK_STREAM, 0);
  socklen_t length = sizeof own;
  if (bind(listener, (void *)&own, length) || listen(listener, 128)) return 1;
  getsockname(listener, (void *)&own, &length);
  printf("%d\n", ntohs(own.sin_port));
  fflush(stdout);

  // Otherwise the kernel may let a timer be 50 microseconds late.
  prctl(PR_SET_TIMERSLACK, 1);
  epoll = epoll_create1(0);
  watch(STDIN_FILENO, stdin);
  watch(listener, &listener);
  for (;;) {
    int64_t left = write_due();
    struct timespec wait = {.tv_sec = left / 1000000000, .tv_nsec = left % 1000000000};
    struct epoll_event events[most_events];
    int ready = epoll_pwait2(epoll, events, most_events, left < 0 ? NULL : &wait, NULL);
    for (int i = 0; i < ready; i++) {
      void *what = events[i].data.ptr;
      if (what == stdin) return 0;
      if (what == &listener) connect_through(accept(listener, NULL, NULL));
      else read_from(what);
    }
  }
}
