//! Room 6': parcels over a ring, in batches of 16 for one publish. A step is one parcel, both ends.

use crate::Room;
use std::hint::black_box;

/// Stage, publish, pop, give back.
pub(crate) const HOP: Room = Room { name: "mesh-hop", instructions_target: 0.0, build: hop };

const BATCH: u64 = 16;

fn hop() -> Box<dyn FnMut(u64)> {
    let (mut sender, mut receiver) = mesh::ring::<[u64; 2]>(1024);
    Box::new(move |steps| {
        for batch in 0..steps / BATCH {
            for number in 0..BATCH {
                sender.stage(black_box([batch, number])).expect("the ring holds a batch");
            }
            assert_eq!(sender.publish() as u64, BATCH);
            while let Some(parcel) = receiver.pop() {
                black_box(parcel);
            }
        }
    })
}
