/**
 * The system calls that code in the sandbox may make, each as `name=x86-64/aarch64` (`-`: the
 * architecture has none). Everything else is refused: what is not here has no say, however new the
 * kernel. Numbers as in the kernel's `asm/unistd.h`.
 */
export const allowedCalls: readonly string[] = [
  // Reading, writing and asking about what is open.
  `read=0/63 write=1/64 pread64=17/67 pwrite64=18/68 readv=19/65 writev=20/66 preadv=295/69
   pwritev=296/70 lseek=8/62 close=3/57 close_range=436/436 fstat=5/80 fsync=74/82
   fdatasync=75/83 ftruncate=77/46 fallocate=285/47 fadvise64=221/223 dup=32/23
   dup2=33/- dup3=292/24 pipe=22/- pipe2=293/59 sendfile=40/71 copy_file_range=326/285`,
  // Files by name: the mounts decide what is there and what may be written.
  `creat=85/- stat=4/- lstat=6/- newfstatat=262/79 statx=332/291
   access=21/- faccessat=269/48 faccessat2=439/439 readlink=89/- readlinkat=267/78
   getdents=78/- getdents64=217/61 getcwd=79/17 chdir=80/49 fchdir=81/50 statfs=137/43
   fstatfs=138/44 getxattr=191/8 lgetxattr=192/9 fgetxattr=193/10 listxattr=194/11
   llistxattr=195/12 flistxattr=196/13`,
  // Making, changing and removing files, which only /tmp allows.
  `mkdir=83/- mkdirat=258/34 rmdir=84/- unlink=87/- unlinkat=263/35 rename=82/- renameat=264/38
   renameat2=316/276 link=86/- linkat=265/37 symlink=88/- symlinkat=266/36 truncate=76/45
   chmod=90/- fchmod=91/52 fchmodat=268/53 fchmodat2=452/452 umask=95/166 utime=132/-
   utimes=235/- utimensat=280/88 futimesat=261/-`,
  // Its own memory; executable pages are no more than it could write anyway.
  `brk=12/214 mmap=9/222 munmap=11/215 mremap=25/216 mprotect=10/226 madvise=28/233
   msync=26/227`,
  // Waiting for what is open: select, poll and epoll of asyncio's loop.
  `poll=7/- ppoll=271/73 select=23/- pselect6=270/72 epoll_create=213/- epoll_create1=291/20
   epoll_ctl=233/21 epoll_wait=232/- epoll_pwait=281/22 eventfd2=290/19`,
  // Time, and waiting for it.
  `nanosleep=35/101 clock_nanosleep=230/115 clock_gettime=228/113 clock_getres=229/114
   gettimeofday=96/169 time=201/- times=100/153 alarm=37/- getitimer=36/102 setitimer=38/103`,
  // Threads: what follows the clone below.
  `futex=202/98 set_robust_list=273/99 rseq=334/293 sched_yield=24/124
   sched_getaffinity=204/123 exit=60/93 exit_group=231/94 restart_syscall=219/128`,
  // Signals it gets; none that it sends.
  `rt_sigaction=13/134 rt_sigprocmask=14/135 rt_sigreturn=15/139 rt_sigpending=127/136
   rt_sigsuspend=130/133 rt_sigtimedwait=128/137 sigaltstack=131/132 pause=34/-`,
  // What it is and what it may use. wait finds no children and says so.
  `getpid=39/172 getppid=110/173 gettid=186/178 getuid=102/174 geteuid=107/175 getgid=104/176
   getegid=108/177 getgroups=115/158 getresuid=118/148 getresgid=120/150 getpgrp=111/-
   getpgid=121/155 getsid=124/156 getpriority=140/141 uname=63/160 sysinfo=99/179
   getrusage=98/165 getrlimit=97/163 getrandom=318/278 getcpu=309/168 wait4=61/260
   waitid=247/95`,
  // A pair of sockets that know only each other (asyncio wakes its loop with one); see the rules.
  `recvfrom=45/207 getsockname=51/204 getsockopt=55/209`,
];

/** A call that is allowed only while one of its arguments is among some values. */
interface RuledCall {
  /** As in `allowedCalls`. */
  call: string;
  /** Which argument, from 0. */
  argument: number;
  /** What it may be. The lower 32 bits are compared, which are all that the kernel reads of an int. */
  values?: readonly number[];
  /** It is a pointer: all 64 bits are compared. */
  pointer?: boolean;
  /** Instead of `values`: bits of which none may be set. */
  without?: number;
}

/** Calls that do harmless and harmful things, distinguished by an argument. */
export const ruledCalls: readonly RuledCall[] = [
  // Files by name; none without a name (O_TMPFILE), which would take a number of /tmp and leave no trace there.
  { call: "open=2/-", argument: 1, without: 0x400000 },
  { call: "openat=257/56", argument: 2, without: 0x400000 },
  // New threads, with exactly the flags of glibc and of musl; so no process and no name space.
  { call: "clone=56/220", argument: 0, values: [0x3d0f00, 0x7d0f00] },
  // Copies, flags and locks of descriptors; neither F_SETOWN, which sends signals, nor leases.
  {
    call: "fcntl=72/25",
    argument: 1,
    values: [0, 1, 2, 3, 4, 5, 6, 7, 36, 37, 38, 1030],
  },
  // isatty, the window's size, FIONREAD, FIONBIO, FIONCLEX, FIOCLEX; nothing that types into a terminal.
  { call: "ioctl=16/29", argument: 1, values: [0x5401, 0x5413, 0x541b, 0x5421, 0x5450, 0x5451] },
  // A thread's name; neither filters nor dumpability nor capabilities.
  { call: "prctl=157/167", argument: 0, values: [15, 16] },
  // Its own limits, which it can only lower; not those of the process that started it.
  { call: "prlimit64=302/261", argument: 0, values: [0] },
  // Pairs of Unix sockets.
  { call: "socketpair=53/199", argument: 0, values: [1] },
  // What they send one another: no address, so to nobody else.
  { call: "sendto=44/206", argument: 4, values: [0], pointer: true },
];

/**
 * From here on (clone3) a refused call is answered "not implemented", so that a C library takes the
 * older call; below it "not permitted", which is what a reader should see.
 */
export const firstUnknown = 435;
