package depot

import (
	"os"
	"syscall"
)

// dontNeed is POSIX_FADV_DONTNEED.
const dontNeed = 4

// forget has the system read a file from its disk the next time. It is only advice: a system that does
// not take it reads what it has in memory.
func forget(f *os.File) {
	_, _, _ = syscall.Syscall6(syscall.SYS_FADVISE64, f.Fd(), 0, 0, dontNeed, 0, 0)
}
