"""A clock of programs that a test can set: the wall clock, not the monotonic one.

    clock = FakedClock(tmp_path)
    program = start_program(**clock.settings)
    clock.set_ahead(hours=2)

A library that is loaded before all others adds to the time that the machine tells. It is compiled
by the C compiler of the machine.
"""

from __future__ import annotations

import mmap
import struct
import subprocess
from datetime import timedelta
from pathlib import Path
from typing import Final

from tests.support.programs import debian

# Without headers, which another package of Debian has.
SOURCE: Final = """
struct instant { long seconds; long rest; };
extern void *dlsym(void *, const char *);
extern char *getenv(const char *);
extern int open(const char *, int, ...);
extern void *mmap(void *, unsigned long, int, int, int, long);

static long nothing, *ahead = &nothing;
static int (*read_clock)(int, struct instant *);

__attribute__((constructor)) static void begin(void) {
    int file = getenv("FAKED_CLOCK") ? open(getenv("FAKED_CLOCK"), 02000000) : -1;
    if (file >= 0) ahead = mmap(0, 8, 1, 1, file, 0);
}

int clock_gettime(int clock, struct instant *now) {
    if (!read_clock) read_clock = dlsym((void *)-1L, "clock_gettime");
    int failed = read_clock(clock, now);
    if (!failed && (clock == 0 || clock == 5)) now->seconds += *ahead;
    return failed;
}

int gettimeofday(struct instant *now, void *zone) {
    int failed = clock_gettime(0, now);
    now->rest /= 1000;
    return failed;
}

long time(long *kept) {
    struct instant now;
    clock_gettime(0, &now);
    if (kept) *kept = now.seconds;
    return now.seconds;
}
"""


class FakedClock:
    """`settings` are the variables that give a program this clock."""

    def __init__(self, directory: Path) -> None:
        debian.need(cc="gcc")
        library, self._file = directory / "clock.so", directory / "ahead"
        self._file.write_bytes(bytes(8))
        command = ["cc", "-shared", "-fPIC", "-nostdlib", "-x", "c", "-", "-o", str(library)]
        subprocess.run(command, input=SOURCE, text=True, check=True)
        self.settings = {"LD_PRELOAD": library, "FAKED_CLOCK": self._file}

    def set_ahead(self, **of_the_machine: float) -> None:
        """Sets the clock to the machine's time plus this offset: `hours=2`, or `hours=-1`."""
        seconds = int(timedelta(**of_the_machine).total_seconds())
        with self._file.open("r+b") as file, mmap.mmap(file.fileno(), 8) as memory:
            memory[:] = struct.pack("q", seconds)
