//! Compares our ring with rtrb on this machine: messages of 8 and 56 bytes, in batches, between two threads and
//! on one (where only instructions count). Figures are nanoseconds a message, the least of several rounds.
//!
//! `cargo run --release -p corelane-mesh --example ring_compare`

use std::hint::black_box;
use std::time::{Duration, Instant};

const CAPACITY: usize = 1024;
const MESSAGES: usize = 2_000_000;
const ROUNDS: usize = 7;

/// What both rings can do, one batch at a time.
trait Ring<T: Send>: Sized {
    type Sender: Send;
    type Receiver: Send;
    fn make() -> (Self::Sender, Self::Receiver);
    /// Sends up to `count` messages and publishes them; returns how many there was room for.
    fn send(sender: &mut Self::Sender, count: usize, message: impl FnMut() -> T) -> usize;
    /// Takes up to `count` messages.
    fn receive(receiver: &mut Self::Receiver, count: usize, take: impl FnMut(T)) -> usize;
}

struct Ours;

impl<T: Send> Ring<T> for Ours {
    type Sender = corelane_mesh::Sender<T>;
    type Receiver = corelane_mesh::Receiver<T>;

    fn make() -> (Self::Sender, Self::Receiver) {
        corelane_mesh::ring(CAPACITY)
    }

    fn send(sender: &mut Self::Sender, count: usize, mut message: impl FnMut() -> T) -> usize {
        let room = sender.room_for(count).min(count);
        for _ in 0..room {
            assert!(sender.stage(message()).is_ok(), "there is room");
        }
        sender.publish()
    }

    fn receive(receiver: &mut Self::Receiver, count: usize, mut take: impl FnMut(T)) -> usize {
        (0..count).map_while(|_| receiver.pop().map(&mut take)).count()
    }
}

/// rtrb, a message at a time: each push and pop is published by itself.
struct RtrbSingle;

impl<T: Send> Ring<T> for RtrbSingle {
    type Sender = rtrb::Producer<T>;
    type Receiver = rtrb::Consumer<T>;

    fn make() -> (Self::Sender, Self::Receiver) {
        rtrb::RingBuffer::new(CAPACITY)
    }

    fn send(sender: &mut Self::Sender, count: usize, mut message: impl FnMut() -> T) -> usize {
        (0..count).take_while(|_| !sender.is_full() && sender.push(message()).is_ok()).count()
    }

    fn receive(receiver: &mut Self::Receiver, count: usize, mut take: impl FnMut(T)) -> usize {
        (0..count).map_while(|_| receiver.pop().ok().map(&mut take)).count()
    }
}

/// rtrb by chunks: the size of a batch has to be known before its first message is written.
struct RtrbChunk;

impl<T: Send> Ring<T> for RtrbChunk {
    type Sender = rtrb::Producer<T>;
    type Receiver = rtrb::Consumer<T>;

    fn make() -> (Self::Sender, Self::Receiver) {
        rtrb::RingBuffer::new(CAPACITY)
    }

    fn send(sender: &mut Self::Sender, count: usize, message: impl FnMut() -> T) -> usize {
        let room = sender.slots().min(count);
        match sender.write_chunk_uninit(room) {
            Ok(chunk) => chunk.fill_from_iter(std::iter::repeat_with(message)),
            Err(_) => 0,
        }
    }

    fn receive(receiver: &mut Self::Receiver, count: usize, take: impl FnMut(T)) -> usize {
        let ready = receiver.slots().min(count);
        match receiver.read_chunk(ready) {
            Ok(chunk) => chunk.into_iter().map(take).count(),
            Err(_) => 0,
        }
    }
}

fn on_one_thread<T: Send, R: Ring<T>>(batch: usize, message: impl Fn() -> T) -> Duration {
    let (mut sender, mut receiver) = R::make();
    let start = Instant::now();
    for _ in 0..MESSAGES / batch {
        assert_eq!(R::send(&mut sender, batch, &message), batch);
        assert_eq!(R::receive(&mut receiver, batch, |message| drop(black_box(message))), batch);
    }
    start.elapsed()
}

fn on_two_threads<T: Send, R: Ring<T>>(batch: usize, message: impl Fn() -> T + Send) -> Duration {
    let (mut sender, mut receiver) = R::make();
    let start = Instant::now();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            let mut sent = 0;
            while sent < MESSAGES {
                match R::send(&mut sender, batch.min(MESSAGES - sent), &message) {
                    0 => std::thread::yield_now(),
                    count => sent += count,
                }
            }
        });
        let mut received = 0;
        while received < MESSAGES {
            match R::receive(&mut receiver, CAPACITY, |message| drop(black_box(message))) {
                0 => std::thread::yield_now(),
                count => received += count,
            }
        }
    });
    start.elapsed()
}

fn least(measure: impl Fn() -> Duration) -> f64 {
    let least = (0..ROUNDS).map(|_| measure()).min().unwrap_or_default();
    least.as_nanos() as f64 / MESSAGES as f64
}

fn row<T: Send>(name: &str, message: impl Fn() -> T + Send + Copy) {
    for batch in [1, 8, 32] {
        println!(
            "{name:>8} {batch:>5} | {:6.2} {:6.2} {:6.2} | {:6.2} {:6.2} {:6.2}",
            least(|| on_one_thread::<T, Ours>(batch, message)),
            least(|| on_one_thread::<T, RtrbChunk>(batch, message)),
            least(|| on_one_thread::<T, RtrbSingle>(batch, message)),
            least(|| on_two_threads::<T, Ours>(batch, message)),
            least(|| on_two_threads::<T, RtrbChunk>(batch, message)),
            least(|| on_two_threads::<T, RtrbSingle>(batch, message)),
        );
    }
}

fn main() {
    println!("                 one thread             two threads");
    println!(" message batch |   ours  chunk single |   ours  chunk single   (chunk, single: rtrb)");
    row("8 bytes", || 7u64);
    row("56 bytes", || [7u64; 7]);
}
