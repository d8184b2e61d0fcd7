//! One writer, several readers: no count is lost, none runs backwards, and a histogram read while it
//! grows is never wild.

use corelane_telemetry::{Block, Snapshot};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;

const RECORDS: u64 = 2_000_000;

fn write(block: &Block) {
    for number in 0..RECORDS {
        block.commands.add(1);
        block.connections_open.set(number % 10);
        block.rooms.execute.record(100 + number % 1_000);
        block.per_command.row(0).ran(1, 5);
        if number % 20_000 == 0 {
            block.per_command.row(0).track(number);
            block.errors.count(format!("E{}", number / 20_000).as_bytes());
        }
    }
}

fn watch(block: &Block, start: &Barrier, done: &AtomicBool) {
    start.wait();
    let (mut commands, mut records) = (0, 0);
    while !done.load(Ordering::Acquire) {
        let copy = Snapshot::of([block]);
        let [_, _, (_, execute), _] = copy.rooms.each();
        assert!(copy.counters.commands.read() >= commands && execute.count() >= records);
        assert!(copy.counters.connections_open.read() < 10);
        assert!(execute.max() < 1_100 && execute.percentile(99.9) < 1_100);
        (commands, records) = (copy.counters.commands.read(), execute.count());
    }
}

#[test]
fn a_writer_and_its_readers_agree() {
    let block = Arc::new(Block::new(1));
    let (start, done) = (Barrier::new(3), AtomicBool::new(false));
    thread::scope(|scope| {
        let readers = [(); 2].map(|()| scope.spawn(|| watch(&block, &start, &done)));
        start.wait();
        write(&block);
        done.store(true, Ordering::Release);
        for reader in readers {
            reader.join().expect("a reader found nothing amiss");
        }
    });
    let copy = Snapshot::of([&*block]);
    assert_eq!(copy.counters.commands.read(), RECORDS);
    assert_eq!(copy.commands[0].calls, RECORDS);
    assert_eq!(copy.rooms.each()[2].1.count(), RECORDS);
    assert_eq!(copy.errors.values().sum::<u64>(), RECORDS / 20_000);
}
