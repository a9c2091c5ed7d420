/* Takes the timers of the kernel out of the hands of libfaketime.
 *
 * LD_PRELOAD names it before that library, which moves each deadline of a timerfd by as much as the time of day is wrong,
 * also of a timer that runs by CLOCK_MONOTONIC or CLOCK_BOOTTIME. A program whose time of day is a minute behind would
 * then sleep a minute too long each time, and one whose time is ahead not at all.
 */

#define _GNU_SOURCE
#include <sys/syscall.h>
#include <sys/timerfd.h>
#include <unistd.h>

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
    return (int)syscall(SYS_timerfd_settime, descriptor, flags, new, old);
}

int timerfd_gettime(int descriptor, struct itimerspec *value) {
    return (int)syscall(SYS_timerfd_gettime, descriptor, value);
}
