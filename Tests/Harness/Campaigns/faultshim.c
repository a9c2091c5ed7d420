/* Counts the calls of a process that reach its files and its peers, and makes one of them fail.
 *
 * LD_PRELOAD loads it. It counts writes, syncs, truncations, renames and unlinks of files, writes to pipes (so that a
 * program can be killed around the moment in which it acknowledges a transaction), and connects, sends and receives
 * of internet sockets. It does not count writes to standard error, nor the process's own event descriptors.
 *
 *   FAULT_FILE  a file of 64 KiB that both sides map (struct shared, see below); processes that map it count together
 *   FAULT_AT    the number of the call that fails, from 1; 0 for none
 *   FAULT_MODE  kill-before  SIGKILL ends the process instead of the call
 *               kill-after   SIGKILL ends the process after the call
 *               eio          the call fails: EIO for a file, EPIPE for a pipe, ECONNRESET for a socket,
 *                            ECONNREFUSED for connect
 *               eio-ever     this and all later calls of its class fail
 *               enospc       this and later writes to files fail with ENOSPC, until FAULT_HEAL calls later
 *               short        a write or a send takes half of its bytes; a receive returns one byte
 *
 * Thread-safe: the counter is atomic, so only one call gets the number FAULT_AT.
 */

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#define TRACE 60000

struct shared {
    _Atomic uint64_t count; /* calls so far */
    _Atomic uint64_t fired; /* calls that were made to fail */
    char trace[TRACE];      /* one letter for each call, see `enum kind` */
};

enum kind { WRITE = 'w', SYNC = 's', TRUNCATE = 't', RENAME = 'r', UNLINK = 'u', PIPE = 'p', SEND = 'n', RECEIVE = 'v', CONNECT = 'c' };
enum mode { NONE, KILL_BEFORE, KILL_AFTER, EIO_ONCE, EIO_EVER, NO_SPACE, SHORT };
enum verdict { PASS, FAIL, HALVE, DIE_AFTER };

static struct shared *shared;
static uint64_t fault_at, heal_after;
static enum mode mode;
static _Atomic int broken; /* 1: files, 2: the network, 3: pipes */

__attribute__((constructor)) static void begin(void) {
    const char *path = getenv("FAULT_FILE");
    if (!path) return;
    int descriptor = open(path, O_RDWR | O_CLOEXEC);
    if (descriptor < 0) return;
    void *map = mmap(NULL, sizeof(struct shared), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
    close(descriptor);
    if (map == MAP_FAILED) return;
    const char *at = getenv("FAULT_AT"), *name = getenv("FAULT_MODE"), *heal = getenv("FAULT_HEAL");
    fault_at = at ? strtoull(at, NULL, 10) : 0;
    heal_after = heal ? strtoull(heal, NULL, 10) : 0;
    static const char *names[] = {"none", "kill-before", "kill-after", "eio", "eio-ever", "enospc", "short"};
    for (int i = 0; name && i < 7; i++)
        if (!strcmp(name, names[i])) mode = i;
    shared = map;
}

/* Returns 0 for a call that is not counted. */
static int kind_of(int descriptor, int file, int network) {
    struct stat status;
    if (!shared || descriptor == 2 || fstat(descriptor, &status)) return 0;
    if (S_ISREG(status.st_mode)) return file;
    if (S_ISFIFO(status.st_mode)) return file == WRITE ? PIPE : 0;
    if (S_ISSOCK(status.st_mode)) {
        int domain = 0;
        socklen_t length = sizeof domain;
        if (getsockopt(descriptor, SOL_SOCKET, SO_DOMAIN, &domain, &length)) return 0;
        return domain == AF_INET || domain == AF_INET6 ? network : 0;
    }
    return 0;
}

static int class_of(int kind) { return kind == SEND || kind == RECEIVE || kind == CONNECT ? 2 : kind == PIPE ? 3 : 1; }

static void die(void) {
    kill(getpid(), SIGKILL);
    for (;;) pause();
}

static int error_of(int kind) {
    if (mode == NO_SPACE) return ENOSPC;
    switch (kind) {
    case PIPE: return EPIPE;
    case CONNECT: return ECONNREFUSED;
    case SEND: case RECEIVE: return ECONNRESET;
    default: return EIO;
    }
}

static enum verdict judge(int kind) {
    if (!kind) return PASS;
    uint64_t number = atomic_fetch_add(&shared->count, 1) + 1;
    if (number <= TRACE) shared->trace[number - 1] = (char)kind;
    if (mode == NONE || !fault_at) return PASS;
    if (number != fault_at) {
        if (number < fault_at) return PASS;
        if (mode == EIO_EVER && atomic_load(&broken) == class_of(kind)) { errno = error_of(kind); return FAIL; }
        if (mode == NO_SPACE && atomic_load(&broken) && number <= fault_at + heal_after && kind == WRITE) { errno = ENOSPC; return FAIL; }
        return PASS;
    }
    /* The order of threads may differ from the dry run. */
    if (mode == NO_SPACE && (class_of(kind) != 1 || kind == RENAME || kind == UNLINK)) return PASS;
    atomic_fetch_add(&shared->fired, 1);
    switch (mode) {
    case KILL_BEFORE: die(); return PASS;
    case KILL_AFTER: return DIE_AFTER;
    case SHORT: return HALVE;
    default:
        atomic_store(&broken, class_of(kind));
        errno = error_of(kind);
        return FAIL;
    }
}

#define REAL(name) \
    static __typeof__(&name) real; \
    if (!real) real = (__typeof__(&name))dlsym(RTLD_NEXT, #name)

/* `call` does the work; `half` does it with fewer bytes. */
#define GUARD(kind, call, half) \
    do { \
        enum verdict verdict = judge(kind); \
        if (verdict == FAIL) return -1; \
        if (verdict == HALVE) return half; \
        __typeof__(call) result = call; \
        if (verdict == DIE_AFTER) die(); \
        return result; \
    } while (0)

static size_t half_of(size_t length) { return length > 1 ? length / 2 : length; }

ssize_t write(int fd, const void *data, size_t length) {
    REAL(write);
    GUARD(kind_of(fd, WRITE, SEND), real(fd, data, length), real(fd, data, half_of(length)));
}
ssize_t pwrite(int fd, const void *data, size_t length, off_t at) {
    REAL(pwrite);
    GUARD(kind_of(fd, WRITE, SEND), real(fd, data, length, at), real(fd, data, half_of(length), at));
}
ssize_t pwrite64(int fd, const void *data, size_t length, off64_t at) {
    REAL(pwrite64);
    GUARD(kind_of(fd, WRITE, SEND), real(fd, data, length, at), real(fd, data, half_of(length), at));
}
ssize_t writev(int fd, const struct iovec *parts, int count) {
    REAL(writev);
    GUARD(kind_of(fd, WRITE, SEND), real(fd, parts, count), real(fd, parts, count > 1 ? count / 2 : count));
}
ssize_t pwritev(int fd, const struct iovec *parts, int count, off_t at) {
    REAL(pwritev);
    GUARD(kind_of(fd, WRITE, SEND), real(fd, parts, count, at), real(fd, parts, count > 1 ? count / 2 : count, at));
}
int fsync(int fd) {
    REAL(fsync);
    GUARD(kind_of(fd, SYNC, 0), real(fd), real(fd));
}
int fdatasync(int fd) {
    REAL(fdatasync);
    GUARD(kind_of(fd, SYNC, 0), real(fd), real(fd));
}
int ftruncate(int fd, off_t length) {
    REAL(ftruncate);
    GUARD(kind_of(fd, TRUNCATE, 0), real(fd, length), real(fd, length));
}
int ftruncate64(int fd, off64_t length) {
    REAL(ftruncate64);
    GUARD(kind_of(fd, TRUNCATE, 0), real(fd, length), real(fd, length));
}
int rename(const char *from, const char *to) {
    REAL(rename);
    GUARD(shared ? RENAME : 0, real(from, to), real(from, to));
}
int renameat(int a, const char *from, int b, const char *to) {
    REAL(renameat);
    GUARD(shared ? RENAME : 0, real(a, from, b, to), real(a, from, b, to));
}
int renameat2(int a, const char *from, int b, const char *to, unsigned flags) {
    REAL(renameat2);
    GUARD(shared ? RENAME : 0, real(a, from, b, to, flags), real(a, from, b, to, flags));
}
int unlink(const char *path) {
    REAL(unlink);
    GUARD(shared ? UNLINK : 0, real(path), real(path));
}
int unlinkat(int at, const char *path, int flags) {
    REAL(unlinkat);
    GUARD(shared ? UNLINK : 0, real(at, path, flags), real(at, path, flags));
}
ssize_t send(int fd, const void *data, size_t length, int flags) {
    REAL(send);
    GUARD(kind_of(fd, 0, SEND), real(fd, data, length, flags), real(fd, data, half_of(length), flags));
}
ssize_t sendto(int fd, const void *data, size_t length, int flags, const struct sockaddr *to, socklen_t size) {
    REAL(sendto);
    GUARD(kind_of(fd, 0, SEND), real(fd, data, length, flags, to, size), real(fd, data, half_of(length), flags, to, size));
}
ssize_t sendmsg(int fd, const struct msghdr *message, int flags) {
    REAL(sendmsg);
    GUARD(kind_of(fd, 0, SEND), real(fd, message, flags), real(fd, message, flags));
}
int connect(int fd, const struct sockaddr *to, socklen_t size) {
    REAL(connect);
    GUARD(kind_of(fd, 0, CONNECT), real(fd, to, size), real(fd, to, size));
}
ssize_t recv(int fd, void *data, size_t length, int flags) {
    REAL(recv);
    GUARD(kind_of(fd, 0, RECEIVE), real(fd, data, length, flags), real(fd, data, length ? 1 : 0, flags));
}
ssize_t recvfrom(int fd, void *data, size_t length, int flags, struct sockaddr *from, socklen_t *size) {
    REAL(recvfrom);
    GUARD(kind_of(fd, 0, RECEIVE), real(fd, data, length, flags, from, size), real(fd, data, length ? 1 : 0, flags, from, size));
}
ssize_t recvmsg(int fd, struct msghdr *message, int flags) {
    REAL(recvmsg);
    GUARD(kind_of(fd, 0, RECEIVE), real(fd, message, flags), real(fd, message, flags));
}
ssize_t read(int fd, void *data, size_t length) {
    REAL(read);
    GUARD(kind_of(fd, 0, RECEIVE), real(fd, data, length), real(fd, data, length ? 1 : 0));
}
