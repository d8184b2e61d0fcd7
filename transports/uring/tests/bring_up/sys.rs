//! A seccomp filter for one thread. Knows nothing of what it keeps out.

/// Has the kernel refuse the `io_uring_*` calls from `first` on with `errno`, on this thread, for good.
pub(crate) fn deny(first: i64, errno: i32) {
    const ALLOW: u32 = 0x7fff_0000;
    const FAIL: u32 = 0x0005_0000;
    const LOAD: u16 = 0x20;
    const JUMP_AT_LEAST: u16 = 0x35;
    const RETURN: u16 = 0x06;
    let step = |code, jt, jf, k| libc::sock_filter { code, jt, jf, k };
    let mut steps = [
        step(LOAD, 0, 0, 0),
        step(JUMP_AT_LEAST, 0, 2, first as u32),
        step(JUMP_AT_LEAST, 1, 0, libc::SYS_io_uring_register as u32 + 1),
        step(RETURN, 0, 0, FAIL | errno as u32),
        step(RETURN, 0, 0, ALLOW),
    ];
    let program = libc::sock_fprog { len: steps.len() as u16, filter: steps.as_mut_ptr() };
    // SAFETY: plain prctl calls; `program` and its steps outlive them.
    unsafe {
        assert_eq!(libc::prctl(libc::PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
        let mode = libc::SECCOMP_MODE_FILTER;
        assert_eq!(libc::prctl(libc::PR_SET_SECCOMP, mode, &raw const program), 0);
    }
}
