//! A process as /proc shows it, and signals to it. Knows no server.

use rustix::process::{Pid, Signal, kill_process};

/// A process that this test started.
#[derive(Clone, Copy)]
pub(crate) struct Process(pub u32);

impl Process {
    fn signal(self, signal: Signal) {
        let pid = Pid::from_raw(self.0 as i32).expect("a process has a number");
        kill_process(pid, signal).expect("it is ours");
    }

    pub(crate) fn terminate(self) {
        self.signal(Signal::TERM);
    }

    pub(crate) fn interrupt(self) {
        self.signal(Signal::INT);
    }

    /// Seconds of processor time so far.
    pub(crate) fn cpu_seconds(self) -> f64 {
        let text = std::fs::read_to_string(format!("/proc/{}/stat", self.0)).expect("it lives");
        let fields = text.rsplit(')').next().unwrap_or("").split_whitespace().skip(11).take(2);
        let ticks: f64 = fields.map(|field| field.parse::<f64>().expect("a number")).sum();
        ticks / rustix::param::clock_ticks_per_second() as f64
    }

    /// Open descriptors.
    pub(crate) fn descriptors(self) -> usize {
        std::fs::read_dir(format!("/proc/{}/fd", self.0)).expect("it lives").count()
    }

    /// Resident bytes.
    pub(crate) fn resident(self) -> u64 {
        let text = std::fs::read_to_string(format!("/proc/{}/statm", self.0)).expect("it lives");
        let pages: u64 =
            text.split_whitespace().nth(1).and_then(|field| field.parse().ok()).expect("a number");
        pages * rustix::param::page_size() as u64
    }
}
